/*
 * Secrets in module arguments. Apart from the map, because this is the one
 * place that decides what of an argument a report may show: when in doubt,
 * it hides.
 */
#include "rule_map.h"

#include <ctype.h>
#include <string.h>
#include <strings.h>

#include "../base/buffer.h"

#define MASK "***"

/*
 * Keys whose value is hidden. A key is the run of letters, digits, '_', '-'
 * and '.' before "=". ALONE: only this word, or as the last of several
 * joined by '_', '-' or '.'; else any key that ends with it.
 */
static const struct {
	const char *word;
	enum {
		ENDING,
		ALONE
	} how;
} secrets[] = {
	{ "passwd", ENDING },     { "password", ENDING },
	{ "passphrase", ENDING }, { "passcode", ENDING },
	{ "secret", ENDING },     { "secretkey", ENDING },
	{ "bindpw", ENDING },     { "rootpw", ENDING },
	{ "token", ENDING },      { "apikey", ENDING },
	{ "authkey", ENDING },    { "privkey", ENDING },
	{ "credential", ENDING }, { "credentials", ENDING },
	{ "pass", ALONE },        { "pw", ALONE },
	{ "pwd", ALONE },         { "pin", ALONE },
	{ "key", ALONE },         { "skey", ALONE },
	{ "psk", ALONE },         { "authtok", ALONE },
};

static bool
is_key_char(char c)
{
	return isalnum((unsigned char)c) || c == '_' || c == '-' || c == '.';
}

static bool
is_secret_key(const char *key, size_t length)
{
	for (size_t i = 0; i < sizeof(secrets) / sizeof(*secrets); i++) {
		size_t size = strlen(secrets[i].word);

		if (size > length || strncasecmp(key + length - size,
						 secrets[i].word, size) != 0)
			continue;
		if (size == length || secrets[i].how == ENDING ||
		    !isalnum((unsigned char)key[length - size - 1]))
			return true;
	}
	return false;
}

/* The first value of a secret key in arg, behind "=" and blanks; or NULL. */
static const char *
secret_value(const char *arg)
{
	for (const char *equals = strchr(arg, '='); equals;
	     equals = strchr(equals + 1, '=')) {
		const char *end = equals, *key;

		while (end > arg && isblank((unsigned char)end[-1]))
			end--;
		key = end;
		while (key > arg && is_key_char(key[-1]))
			key--;
		if (is_secret_key(key, (size_t)(end - key)))
			return equals + 1 + strspn(equals + 1, " \t");
	}
	return NULL;
}

/* The password in "scheme://user:password@host"; *end is its '@'. */
static const char *
url_password(const char *arg, const char **end)
{
	const char *scheme = strstr(arg, "://"), *colon;

	if (!scheme)
		return NULL;
	scheme += 3;
	/* A password may hold an '@' or a '/': the last '@' ends it. */
	*end = strrchr(scheme, '@');
	colon = strchr(scheme, ':');
	return *end && colon && colon < *end ? colon + 1 : NULL;
}

/* Appends length bytes; in brackets a closing one needs its backslash. */
static void
append(struct buffer *out, const char *text, size_t length, bool bracketed)
{
	for (size_t i = 0; i < length; i++) {
		if (bracketed && text[i] == ']')
			buffer_char(out, '\\');
		buffer_char(out, text[i]);
	}
}

static void
mask(struct buffer *out, const char *arg)
{
	const char *value = secret_value(arg), *end = arg + strlen(arg);
	const char *url, *at = NULL;
	bool raw = *arg == '[' && end > arg + 1 && end[-1] == ']';
	bool bracketed = !raw && (!*arg || strpbrk(arg, " \t"));

	if (bracketed)
		buffer_char(out, '[');
	url = url_password(arg, &at);
	if (url && (!value || url < value)) {
		append(out, arg, (size_t)(url - arg), bracketed);
		buffer_text(out, MASK);
		arg = at;
		if (value && value < at)
			value = NULL;
	}
	/* A secret may hold blanks: nothing behind it is shown. */
	append(out, arg, (size_t)((value ? value : end) - arg), bracketed);
	if (value)
		buffer_text(out, MASK);
	if (bracketed || (raw && value))
		buffer_char(out, ']');
}

char *
rule_map_mask(const char *const *args, size_t count)
{
	struct buffer out = { 0 };

	for (size_t i = 0; i < count; i++) {
		if (i)
			buffer_char(&out, ' ');
		mask(&out, args[i]);
	}
	return buffer_take(&out);
}
