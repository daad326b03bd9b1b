/*
 * AppArmor and SELinux. Apart because nothing else asks for them: whether a
 * profile lets a shim be mapped is found out by living under it, not by
 * reading it.
 */
#include "confine.h"

#include <fcntl.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#define PROFILES "/sys/kernel/security/apparmor/profiles"

/* Whether a profile's name is that of a program of the service. */
static bool
is_of(const char *profile, const char *service)
{
	const char *slash = strrchr(profile, '/');
	const char *base = slash != NULL ? slash + 1 : profile;
	size_t length = strlen(service);

	/* su-l and sudo-i are su and sudo. */
	if (length > 2 && service[length - 2] == '-')
		length -= 2;
	return strlen(base) == length && memcmp(base, service, length) == 0;
}

/* The name of an enforced profile into name; false when there is none. */
static bool
find_profile(const char *service, char *name, size_t size)
{
	FILE *in = fopen(PROFILES, "re");
	char line[512];
	bool found = false;

	while (in != NULL && !found && fgets(line, sizeof(line), in) != NULL) {
		char *mode = strstr(line, " (");

		if (mode == NULL || strncmp(mode, " (enforce)", 10) != 0)
			continue;
		*mode = '\0';
		found = is_of(line, service);
		if (found)
			(void)snprintf(name, size, "%s", line);
	}
	if (in != NULL)
		(void)fclose(in);
	return found;
}

bool
confine_self(const char *service, char **why)
{
	static char text[700];
	char name[512], order[600];
	int fd, length;
	bool done;

	if (!find_profile(service, name, sizeof(name)))
		return true;
	length = snprintf(order, sizeof(order), "changeprofile %s", name);
	fd = open("/proc/self/attr/apparmor/current", O_WRONLY | O_CLOEXEC);
	if (fd < 0)
		fd = open("/proc/self/attr/current", O_WRONLY | O_CLOEXEC);
	done = fd >= 0 && write(fd, order, (size_t)length) == length;
	if (fd >= 0)
		(void)close(fd);
	if (!done) {
		(void)snprintf(text, sizeof(text),
			       "AppArmor confines the program by the profile "
			       "%s, and whether it may load timing modules "
			       "cannot be tried",
			       name);
		*why = text;
	}
	return done;
}

bool
confine_selinux(void)
{
	int fd = open("/sys/fs/selinux/enforce", O_RDONLY | O_CLOEXEC);
	char c = '0';

	if (fd >= 0) {
		if (read(fd, &c, 1) != 1)
			c = '0';
		(void)close(fd);
	}
	return c == '1';
}
