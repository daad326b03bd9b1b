/*
 * The program: everything it does is in command.c, so that tests can link
 * all of the tool but this file.
 */
#include <fcntl.h>
#include <locale.h>
#include <unistd.h>

#include "command.h"

/*
 * A standard descriptor that came closed would be given to the next file
 * that is opened, and messages would go into a recording. Opened the wrong
 * way round it still fails when used, and a program that is traced finds it
 * closed.
 */
static void
hold_closed(void)
{
	for (int fd = STDIN_FILENO; fd <= STDERR_FILENO; fd++)
		if (fcntl(fd, F_GETFD) < 0)
			(void)open("/dev/null",
				   O_CLOEXEC | (fd == STDIN_FILENO ? O_WRONLY
								   : O_RDONLY));
}

int
main(int argc, char **argv)
{
	hold_closed();
	/*
	 * Only the character set: numbers are written with a point whatever
	 * the locale, and sorted as bytes.
	 */
	(void)setlocale(LC_CTYPE, "");
	return command_main(argc, argv);
}
