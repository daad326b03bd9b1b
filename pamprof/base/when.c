/*
 * Points in time. Apart from options.c, which knows durations, because this
 * one needs the calendar.
 */
#include "when.h"

#include <string.h>
#include <time.h>

#include "options.h"

#define SECOND 1000000000

/* Forms of strptime(3); the last two are of today. */
static const char *const forms[] = { "%Y-%m-%dT%H:%M:%S",
				     "%Y-%m-%d %H:%M:%S",
				     "%Y-%m-%dT%H:%M",
				     "%Y-%m-%d %H:%M",
				     "%Y-%m-%d",
				     "%H:%M:%S",
				     "%H:%M" };
#define OF_TODAY 5

/* Reads the whole text, but for a "Z", by one form. */
static int
read_form(const char *text, const char *form, const struct tm *start,
	  struct tm *out)
{
	const char *rest;

	*out = *start;
	out->tm_hour = out->tm_min = out->tm_sec = 0;
	out->tm_isdst = -1;
	rest = strptime(text, form, out);
	return rest && (!*rest || strcmp(rest, "Z") == 0) ? (*rest ? 2 : 1) : 0;
}

int
when_parse(const char *text, int64_t now_ns, int64_t *ns, struct error *error)
{
	time_t now = (time_t)(now_ns / SECOND);
	struct tm local, utc, read;
	uint64_t before;

	*ns = 0;
	if (text[0] == '-') {
		if (options_duration(text + 1, &before, NULL) == 0 &&
		    before < INT64_MAX / 2) {
			*ns = now_ns - (int64_t)before;
			return 0;
		}
	} else if (localtime_r(&now, &local) && gmtime_r(&now, &utc)) {
		for (size_t i = 0; i < sizeof(forms) / sizeof(*forms); i++) {
			int zone = read_form(text, forms[i], &local, &read);

			if (zone == 2 && i >= OF_TODAY)
				(void)read_form(text, forms[i], &utc, &read);
			if (!zone)
				continue;
			*ns = (int64_t)(zone == 2 ? timegm(&read)
						  : mktime(&read)) *
			      SECOND;
			return 0;
		}
	}
	return error_set(error, ERROR_USAGE,
			 "\"%s\" is no time: write 2026-11-30, "
			 "2026-11-30T08:15, 08:15 or -2h",
			 text);
}
