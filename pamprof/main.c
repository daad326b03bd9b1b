/*
 * The program: everything it does is in command.c, so that tests can link
 * all of the tool but this file.
 */
#include <locale.h>

#include "command.h"

int
main(int argc, char **argv)
{
	/*
	 * Only the character set: numbers are written with a point whatever
	 * the locale, and sorted as bytes.
	 */
	(void)setlocale(LC_CTYPE, "");
	return command_main(argc, argv);
}
