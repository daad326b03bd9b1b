/*
 * The rtld-audit observer (rtld-audit(7)): loaded by the dynamic linker of a
 * program that pamprof starts, with no file changed. The linker tells it of
 * every object and asks about every binding of those it marks; it answers
 * with functions of ours for two kinds of call, a module's found by libpam
 * and libpam's made by the application, and with the unchanged address
 * otherwise.
 *
 * It lives in a namespace of its own with a libc of its own, so its errno is
 * not the program's, and the program's is put back as well, because libpam
 * is called from here. Without a ring it declines to be an auditor at all.
 *
 * Not seen: how long a module takes to load, for the linker speaks of an
 * object only once it has been found and read; libpam's functions in programs
 * compiled with -fno-plt, whose addresses are no bindings to be asked about
 * (their modules' calls are seen); anything in programs that gain privileges.
 */
#include <stdlib.h>
#include <string.h>

#include "audit.h"

struct audit_base audit_base;

/* Copied: programs overwrite their environment (setproctitle). */
static char ring_path[1024];

int
audit_errno_get(void)
{
	return audit_base.errno_location != NULL ? *audit_base.errno_location()
						 : 0;
}

void
audit_errno_set(int value)
{
	if (audit_base.errno_location != NULL)
		*audit_base.errno_location() = value;
}

void
audit_drop(void)
{
	if (!ring_enter())
		return;
	ring_drop();
	ring_leave();
}

/* Finds libpam's functions; an object that lacks one is not our libpam. */
static bool
is_libpam(const struct audit_object *object)
{
	struct call_pam *pam = &audit_base.pam;
	uintptr_t item, get, set;

	if (audit_base.libpam != NULL || !audit_object_is(object, "libpam.so."))
		return false;
	item = audit_object_function(object, "pam_get_item");
	get = audit_object_function(object, "pam_get_data");
	set = audit_object_function(object, "pam_set_data");
	if (item == 0 || get == 0 || set == 0)
		return false;
	memcpy(&pam->get_item, &item, sizeof(item));
	memcpy(&pam->get_data, &get, sizeof(get));
	memcpy(&pam->set_data, &set, sizeof(set));
	return true;
}

static bool
is_libc(const struct audit_object *object)
{
	uintptr_t location;

	if (audit_base.libc != NULL || !audit_object_is(object, "libc.so."))
		return false;
	location = audit_object_function(object, "__errno_location");
	memcpy(&audit_base.errno_location, &location, sizeof(location));
	return location != 0;
}

/*
 * Which bindings of the object are asked about: those to libpam from whoever
 * is linked to it, and from a module's functions to whoever looks them up.
 * All others cost nothing.
 */
static unsigned
flags_of(const struct audit_object *object, const struct link_map *map)
{
	if (is_libpam(object)) {
		audit_base.libpam = map;
		return LA_FLG_BINDTO;
	}
	if (is_libc(object)) {
		audit_base.libc = map;
		return 0;
	}
	return audit_object_needs(object, "libpam.so.") ? LA_FLG_BINDFROM : 0;
}

static bool
is_module(const struct audit_object *object)
{
	return audit_object_function(object, "pam_sm_authenticate") != 0 ||
	       audit_object_function(object, "pam_sm_setcred") != 0 ||
	       audit_object_function(object, "pam_sm_acct_mgmt") != 0 ||
	       audit_object_function(object, "pam_sm_open_session") != 0 ||
	       audit_object_function(object, "pam_sm_close_session") != 0 ||
	       audit_object_function(object, "pam_sm_chauthtok") != 0;
}

__attribute__((visibility("default"))) unsigned
la_version(unsigned version)
{
	const char *path = getenv(AUDIT_RING_VARIABLE);

	if (path == NULL || *path != '/' || strlen(path) >= sizeof(ring_path))
		return 0;
	memcpy(ring_path, path, strlen(path) + 1);
	call_prepare();
	ring_attach(ring_path);
	return version < LAV_CURRENT ? version : LAV_CURRENT;
}

__attribute__((visibility("default"))) unsigned
la_objopen(struct link_map *map, Lmid_t namespace, uintptr_t *cookie)
{
	struct audit_object object;
	unsigned flags;

	*cookie = (uintptr_t)map;
	if (namespace != LM_ID_BASE || !audit_object_read(&object, map))
		return 0;
	flags = flags_of(&object, map);
	return is_module(&object) ? flags | LA_FLG_BINDTO : flags;
}

__attribute__((visibility("default"))) unsigned
la_objclose(uintptr_t *cookie)
{
	const struct link_map *map = (const struct link_map *)*cookie;

	audit_module_forget(map);
	if (map == audit_base.libpam)
		audit_base.libpam = NULL;
	if (map == audit_base.libc) {
		audit_base.errno_location = NULL;
		audit_base.libc = NULL;
	}
	return 0;
}

__attribute__((visibility("default"))) uintptr_t
la_symbind64(Elf64_Sym *symbol, unsigned number, uintptr_t *from, uintptr_t *to,
	     unsigned *flags, const char *name)
{
	const struct link_map *map = (const struct link_map *)*to;
	uint8_t phase;

	(void)number;
	if (map == audit_base.libpam && *from != *to)
		return audit_phase_bind(name, symbol->st_value);
	/* A module that calls itself does so without looking itself up. */
	if ((*flags & LA_SYMB_DLSYM) == 0)
		return symbol->st_value;
	phase = audit_module_phase(name);
	return phase != PHASE_NONE
		   ? audit_module_bind(map, symbol->st_value, phase)
		   : symbol->st_value;
}
