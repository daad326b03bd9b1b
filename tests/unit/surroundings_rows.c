/*
 * The table of surroundings. Apart from its test because it is data: a new
 * one is one row.
 */
#include "surroundings_rows.h"

#include <stddef.h>

const struct surroundings_row surroundings_rows[] = {
	{ .name = "log prefix",
	  .stack = "auth required @/pam_stub.so syslog=hello\n"
		   "auth required @/a/pam_twin.so syslog=twin\n",
	  .script = "start svc joe\nauth 0\nend 0\n",
	  .must = { "pam_stub(svc:auth): hello from auth",
		    "pam_twin(svc:auth): twin from auth" } },
	{ .name = "audit record and its grantors",
	  .stack = "auth required @/pam_stub.so\n"
		   "auth optional @/pam_probe.so auth=25\n"
		   "auth sufficient @/b/pam_twin.so\n",
	  .script = "start svc joe\nitem rhost h\nauth 0\nend 0\n",
	  .must = { "grantors=pam_stub,pam_twin] [joe]" } },
	{ .name = "items",
	  .stack = "auth required @/pam_stub.so item=service item=user "
		   "item=tty item=rhost item=ruser setitem=user:eve\n",
	  .script = "start svc joe\nitem tty t1\nitem rhost h\nitem ruser r\n"
		    "auth 0\nshow\nend 0\n",
	  .must = { "pam_get_item(tty) gave 0 [t1]", "item user 0 [eve]",
		    "item conv first" } },
	{ .name = "module data and the order of its clean-up",
	  .stack = "auth required @/pam_stub.so data=one\n"
		   "auth required @/pam_probe.so getdata=one data=two\n"
		   "auth required @/a/pam_twin.so data=three getdata=two\n",
	  .script = "start svc joe\nauth 0\nsetcred 2\nend 7\n",
	  .must = { "pam_get_data(one) gave 0 [one of ",
		    "clean-up of [three of a/pam_twin.so in setcred] "
		    "status=0x7" } },
	{ .name = "module data that outlives its last call",
	  .stack = "auth required @/pam_stub.so data=one\n",
	  .second = "auth optional @/pam_missing.so\n",
	  .script = "start svc joe\nauth 0\nitem service second\nauth 0\n"
		    "end 0\n",
	  .must = { "unloaded after 1 calls", "died of signal 11" } },
	{ .name = "changed service without module data",
	  .stack = "auth required @/pam_stub.so prompt=x\n"
		   "session required @/pam_stub.so\n",
	  .second = "auth required @/pam_probe.so syslog=hello\n"
		    "session required @/pam_stub.so\n",
	  .script = "start svc joe\nauth 0\nitem service second\nauth 0\n"
		    "open 0\nend 0\n",
	  .must = { "pam_probe(second:auth): hello from auth", "exit 0" } },
	{ .name = "pam_get_user",
	  .stack = "auth required @/pam_stub.so getuser=Who:\n"
		   "account required @/pam_stub.so getuser\n",
	  .script = "start svc -\nauth 0\nacct 0\nend 0\n"
		    "start svc -\nitem user_prompt Name:\nconv fail\nacct 0\n"
		    "acct 0\nend 0\nstart svc -\nconv answer\n"
		    "item user_prompt Name:\nacct 0\nend 0\n",
	  .must = { "[Who:]", "pam_get_user gave 0 [answer-A]", "[Name:]",
		    "pam_get_user gave 19 []" } },
	{ .name = "pam_get_authtok with the rule's own options",
	  .stack = "auth optional @/pam_stub.so use_first_pass authtok=new\n"
		   "auth required @/pam_stub.so authtok=new\n"
		   "auth required @/pam_probe.so authtok=new use_first_pass\n"
		   "password optional @/pam_stub.so authtok=new "
		   "authtok_type=Odd verify\n"
		   "password optional @/pam_probe.so authtok=new use_authtok\n"
		   "password optional @/pam_probe.so authtok=old\n",
	  .script = "start svc joe\nauth 0\nend 0\n"
		    "start svc joe\nchauthtok 0\nend 0\n",
	  .must = { "pam_get_authtok(new) gave 7, token null",
		    "pam_get_authtok(new) gave 0, token set",
		    "[New Odd password: ]", "[Retype new Odd password: ]" } },
	{ .name = "pam_fail_delay",
	  .stack = "auth required @/pam_stub.so auth=7 faildelay=2000000\n",
	  .script = "start svc joe\ndelayfn\nauth 0\nend 7\n",
	  .must = { "pam_fail_delay(2000000) gave 0",
		    "fail delay A result=7 some" } },
	{ .name = "pam_putenv",
	  .stack = "auth required @/pam_stub.so putenv=A=1 putenv=B=2\n"
		   "auth required @/pam_probe.so getenv=A putenv=A\n",
	  .script = "start svc joe\nputenv C=3\nauth 0\nshow\nend 0\n",
	  .must = { "pam_getenv(A) gave [1]", "environment [B=2]",
		    "environment [C=3]" },
	  .must_not = "environment [A=1]" },
	{ .name = "PAM_CONV replaced by a module",
	  .stack = "auth required @/pam_stub.so keepconv prompt=app "
		   "replaceconv prompt=own\n"
		   "auth required @/pam_probe.so prompt=own\n"
		   "account required @/pam_stub.so prompt=own restoreconv "
		   "prompt=app\n",
	  .script = "start svc joe\nauth 0\nshow\nacct 0\nshow\nend 0\n",
	  .must = { "own conversation: 1, style 1 [own]",
		    "pam_probe.so: conversation gave 0, answer set",
		    "item conv foreign", "item conv first" } },
	{ .name = "PAM_CONV replaced by the application",
	  .stack = "auth required @/pam_stub.so keepconv prompt=x\n"
		   "account required @/pam_stub.so sameconv prompt=y "
		   "usekept=z\n",
	  .script = "start svc joe\nauth 0\nacct 0\nswapconv\nacct 0\nshow\n"
		    "end 0\n",
	  .must = { "function same, data same", "function other, data same",
		    "conversation A2 1/1 style=1",
		    "conversation A1 1/1 style=2", "item conv second" } },
	{ .name = "kept conversation called later",
	  .stack = "auth required @/pam_stub.so keepconv\n"
		   "session required @/pam_stub.so open.usekept=later\n",
	  .script = "start svc joe\nauth 0\nopen 0\nuse 1\nstart svc eve\n"
		    "open 0\nuse 0\nend 0\nuse 1\nopen 0\nend 0\n",
	  .must = { "conversation A1 1/1 style=2 errno=0 [later]" } },
	{ .name = "PAM_SILENT and other flags",
	  .stack = "auth required @/pam_stub.so\n"
		   "password required @/pam_stub.so\n",
	  .script = "start svc joe\nauth 0x8001\nsetcred 0x8010\n"
		    "chauthtok 0x8020\nend 0\n",
	  .must = { "auth flags=0x8001", "setcred flags=0x8010",
		    "prelim flags=0xc020", "update flags=0xa020" } },
	{ .name = "errno",
	  .stack = "auth required @/pam_stub.so errno=13\n"
		   "auth required @/pam_probe.so prompt=x errno=2\n"
		   "auth required @/a/pam_twin.so\n",
	  .script = "start svc joe\nauth 0\nend 0\n",
	  .must = { "pam_probe.so: auth flags=0x0 argc=2 argv=set errno=13",
		    "style=1 errno=13 [x]",
		    "pam_twin.so: auth flags=0x0 argc=0 argv=null errno=2" } },
	{ .name = "signal mask and handlers",
	  .stack = "auth required @/pam_stub.so signals block=12 ignore=13\n"
		   "auth required @/pam_probe.so signals\n",
	  .script = "start svc joe\nsignal 10\nauth 0\nend 0\n",
	  .must = { "blocked ---------b---", "blocked ---------b-b-",
		    "handled ---------h--i-" } },
	{ .name = "open descriptors of the process and of a child",
	  .stack = "auth required @/pam_stub.so fds opened=/dev/null\n"
		   "auth required @/pam_probe.so fds fork=0\n",
	  .script = "fds\nstart svc joe\nfds\nauth 0\nfds\nend 0\nfds\n",
	  .must = { "descriptors 0 1 2\n", "descriptors 0 1 2 3\n",
		    "descriptor 3 /dev/null" } },
	{ .name = "module loaded under two paths",
	  .stack = "auth required @/pam_stub.so\n"
		   "auth required @/pam_link.so\n"
		   "auth required @/a/../pam_stub.so\n",
	  .script = "start svc joe\nauth 0\nend 0\n",
	  .must = { "call=0", "call=1", "call=2", "unloaded after 3 calls" } },
	{ .name = "two modules with one base name",
	  .stack = "auth [success=1 default=ignore] @/a/pam_twin.so\n"
		   "auth required @/b/pam_twin.so auth=7\n"
		   "auth required @/b/pam_twin.so\n",
	  .script = "start svc joe\nauth 0\nend 0\n",
	  .must = { "a/pam_twin.so: auth", "b/pam_twin.so: auth returns 0",
		    "auth A = 0" } },
	{ .name = "module that calls setuid",
	  .stack = "auth required @/pam_stub.so\n"
		   "session required @/pam_probe.so open.setuid=65534 "
		   "process\n"
		   "session required @/pam_stub.so prompt=x\n",
	  .script = "start svc joe\nauth 0\nopen 0\nclose 0\nsetcred 4\nfds\n"
		    "end 0\n",
	  .must = { "setuid gave 0", "uid 65534/65534" },
	  .root = true },
	{ .name = "module that changes the root folder",
	  .stack = "session required @/pam_stub.so open.chroot=/proc/self/fd\n"
		   "session required @/pam_probe.so data=x prompt=y\n",
	  .script = "start svc joe\nopen 0\nclose 0\nend 0\n",
	  .must = { "chroot gave 0", "close A = 0" },
	  .root = true },
	{ .name = "module that lowers limits",
	  .stack = "session required @/pam_stub.so open.nofile=3 "
		   "open.fsize=0 open.memlock=0\n"
		   "session required @/pam_probe.so process prompt=x fds\n",
	  .script = "start svc joe\nopen 0\nclose 0\nend 0\n",
	  .must = { "nofile 3 fsize 0", "audit_open failed: 24" } },
	{ .name = "module that closes all descriptors",
	  .stack = "auth required @/pam_stub.so opened=/dev/null "
		   "closefrom=3\n"
		   "account required @/pam_probe.so fds\n",
	  .script = "opened /dev/zero\nstart svc joe\nauth 0\n"
		    "opened /dev/null\nacct 0\nend 0\n",
	  .must = { "open gave 4", "opened 3", "descriptors 0 1 2 3" } },
	{ .name = "module that forks",
	  .stack = "auth required @/pam_stub.so fork=3 prompt=x\n",
	  .script = "start svc joe\nauth 0\nauth 0\nend 0\n",
	  .must = { "in a helper", "helper ended with 0x300" } },
	{ .name = "application that forks",
	  .stack = "auth required @/pam_stub.so data=x prompt=y\n"
		   "session required @/pam_probe.so prompt=z\n",
	  .script = "start svc joe\nauth 0\nfork\nsetcred 2\nopen 0\n"
		    "end 0x40000000\njoin\nclose 0\nend 0\n",
	  .must = { "status=0x40000000", "status=0x0" } },
	{ .name = "longjmp out of the conversation",
	  .stack = "auth required @/pam_stub.so prompt=x\n"
		   "account required @/pam_stub.so prompt=y\n",
	  .script = "start svc joe\nconv longjmp\nauth 0\nconv answer\nauth 0\n"
		    "acct 0\nend 0\nuse 1\nstart svc eve\nauth 0\nacct 0\n"
		    "show\nend 0\n",
	  .must = { "auth left by longjmp", "conversation B1 1/1",
		    "item conv first" } },
	{ .name = "exit out of the conversation",
	  .stack = "auth required @/pam_stub.so prompt=x\n",
	  .script = "start svc joe\nconv exit\nauth 0\n",
	  .must = { "unloaded after 1 calls", "exit 7" } },
	{ .name = "module that exits",
	  .stack = "auth required @/pam_stub.so data=x exit=9\n",
	  .script = "start svc joe\nauth 0\n",
	  .must = { "unloaded after 1 calls", "exit 9" } },
	{ .name = "module that crashes",
	  .stack = "auth required @/pam_stub.so crash\n",
	  .script = "start svc joe\nauth 0\n",
	  .must = { "died of signal 11" } },
	{ .name = "pthread_cancel out of the conversation",
	  .stack = "auth required @/pam_stub.so prompt=x\n"
		   "account required @/pam_stub.so prompt=y\n",
	  .script = "start svc joe\nconv block\ncancel auth 0\nconv answer\n"
		    "acct 0\nuse 1\nstart svc eve\nauth 0\nacct 0\nend 0\n"
		    "use 0\nend 0\n",
	  .must = { "thread ended cancelled", "conversation B1 1/1" } },
	{ .name = "pthread_exit out of the conversation",
	  .stack = "auth required @/pam_stub.so prompt=x\n",
	  .script = "start svc joe\nconv pthread_exit\ncancel auth 0\n"
		    "conv answer\nuse 1\nstart svc eve\nauth 0\nend 0\n",
	  .must = { "thread ended by itself", "conversation B1 1/1" },
	  .must_not = "auth A" },
	{ .name = "module that ends its thread",
	  .stack = "auth required @/pam_stub.so pthread_exit\n",
	  .script = "start svc joe\ncancel auth 0\nuse 1\nstart svc eve\n"
		    "acct 0\nend 0\n",
	  .must = { "thread ended by itself" },
	  .must_not = "auth returns" },
	{ .name = "calls from a second thread",
	  .stack = "auth required @/pam_stub.so prompt=x errno=5\n"
		   "account required @/pam_stub.so usekept=x\n",
	  .script = "start svc joe\ncancel auth 0\nauth 0\ncancel acct 0\n"
		    "end 0\n",
	  .must = { "auth A = 0", "thread ended by itself" } },
	{ .name = "two conversations at once",
	  .stack = "auth required @/pam_stub.so prompt=x expect=ruser "
		   "echo=y expect=ruser\n",
	  .script = "start svc joe\nitem ruser answer-A\nuse 1\n"
		    "start svc eve\nitem ruser answer-B\nuse 2\n"
		    "start svc ann\nitem ruser answer-C\nswapconv\n"
		    "race 3000\nend 0\n",
	  .must = { "race 0: 3000 rounds, 0 failures",
		    "race 1: 3000 rounds, 0 failures",
		    "race 2: 3000 rounds, 0 failures" } },
	{ .name = "the same under way in a forked child",
	  .stack = "auth required @/pam_stub.so prompt=x expect=ruser\n",
	  .script = "start svc joe\nitem ruser answer-A\nuse 1\n"
		    "start svc eve\nitem ruser answer-B\nauth 0\nfork\n"
		    "race 300\njoin\nrace 300\nend 0\n",
	  .must = { "race 0: 300 rounds, 0 failures",
		    "race 1: 300 rounds, 0 failures" } },
	{ .name = "an answer for somebody else is noticed",
	  .stack = "auth required @/pam_stub.so prompt=x expect=ruser\n",
	  .script = "start svc joe\ndelayfn\nitem ruser answer-B\nrace 2\n"
		    "end 0\n",
	  .must = { "race 0: 2 rounds, 2 failures" } },
	{ .name = "system call filter before the modules are loaded",
	  .stack = "auth required @/pam_stub.so prompt=x\n",
	  .script = "filter getrusage\nstart svc joe\nauth 0\nend 0\n",
	  .must = { "seccomp = 0", "auth A = 0", "exit 0" },
	  .not_audited = true },
	{ .name = "system call filter between two calls",
	  .stack = "auth required @/pam_stub.so prompt=x\n"
		   "session required @/pam_stub.so prompt=y\n",
	  .script = "start svc joe\nauth 0\nfilter all\nopen 0\nclose 0\n",
	  .must = { "seccomp = 0", "close A = 0", "exit 0" },
	  .no_cpu = true,
	  .not_audited = true },
	{ .name = "system call filter before the first call",
	  .stack = "auth required @/pam_stub.so prompt=x\n",
	  .script = "start svc joe\nfilter all\nauth 0\n",
	  .must = { "seccomp = 0", "auth A = 0", "exit 0" },
	  .no_cpu = true,
	  .not_audited = true },
	{ .name = "system call filter in a forked child",
	  .stack = "auth required @/pam_stub.so prompt=x\n",
	  .script = "start svc joe\nauth 0\nfork\nfilter getrusage\nsetcred 2\n"
		    "join\nend 0\n",
	  .must = { "seccomp = 0", "setcred A = 0", "exit 0" },
	  .no_cpu = true },
	{ .name = "arguments edited by the module",
	  .stack = "auth required @/pam_stub.so a~b c~d mutate\n",
	  .script = "start svc joe\nauth 0\nsetcred 2\nend 0\n",
	  .must = { "[a~b] [c~d]", "[a!b] [c!d]" } },
	{ .name = "argument vector without arguments",
	  .stack = "auth required @/pam_stub.so\n"
		   "auth required @/pam_probe.so \n",
	  .script = "start svc joe\nauth 0\nend 0\n",
	  .must = { "pam_stub.so: auth flags=0x0 argc=0 argv=null",
		    "pam_probe.so: auth flags=0x0 argc=0 argv=set" } },
	{ .name = "calls back into libpam and into the module itself",
	  .stack = "auth required @/pam_stub.so callpam callself\n",
	  .script = "start svc joe\nauth 0\nend 0\n",
	  .must = { "pam_authenticate from a module gave 4",
		    "self call gave 9" } },
	{ .name = "missing functions",
	  .stack = "auth required @/pam_nosetcred.so\n"
		   "account required @/pam_nothing.so\n"
		   "-session required @/pam_nosession.so\n"
		   "auth required @/pam_stub.so\n",
	  .script = "start svc joe\nauth 0\nsetcred 2\nacct 0\nopen 0\nend 0\n",
	  .must = { "unable to resolve symbol: pam_sm_setcred",
		    "setcred A = 28", "acct A = 28", "open A = 28" } },
	{ .name = "modules that cannot be loaded",
	  .stack = "auth optional @/pam_missing.so\n"
		   "-auth optional @/pam_missing.so\n"
		   "auth optional @/pam_text.so\n"
		   "auth optional @/pam_unresolved.so\n"
		   "auth required @/pam_stub.so\n",
	  .script = "start svc joe\nauth 0\nend 0\n",
	  .must = { "adding faulty module: pam_missing.so",
		    "pam_text.so: file too short" } },
	{ .name = "module that is gone since the stack was wrapped",
	  .stack = "auth optional @/pam_probe.so\n"
		   "auth required @/pam_stub.so\n"
		   "account required @/pam_probe.so\n",
	  .script = "start svc joe\nauth 0\nacct 0\nend 0\n",
	  .must = { "adding faulty module: pam_probe.so", "auth A = 0",
		    "acct A = 28" },
	  .removed = "pam_probe.so" },
	{ .name = "suspended transaction",
	  .stack = "auth required @/pam_stub.so data=x\n"
		   "auth required @/pam_probe.so auth=31,31,0 prompt=x\n",
	  .script = "start svc joe\nconv again\nauth 0\nauth 0\nconv answer\n"
		    "auth 0\nend 0\n",
	  .must = { "auth A = 31", "auth A = 0" } },
	{ .name = "values that libpam does not know",
	  .stack = "auth optional @/pam_stub.so auth=-1,32,99\n"
		   "auth required @/pam_probe.so\n",
	  .script = "start svc joe\nauth 0\nauth 0\nauth 0\nend 0\n",
	  .must = { "auth returns -1", "auth returns 99" } },
	{ 0 }
};
