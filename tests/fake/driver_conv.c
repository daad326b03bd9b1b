/*
 * The driver's conversation and fail delay. Apart from the steps because it
 * runs inside a module's call and has ways of never coming back.
 */
#include "driver.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "probe.h"

/* Tells the thread that waits in cancel_step(), then waits itself. */
static void
block(struct driver_handle *handle)
{
	pthread_mutex_lock(&handle->driver->mutex);
	handle->asked = true;
	pthread_cond_signal(&handle->driver->blocked);
	pthread_mutex_unlock(&handle->driver->mutex);
	for (;;)
		pause();
}

/* The modes that do not return; they do for all others. */
static void
depart(struct driver_handle *handle)
{
	switch (handle->mode) {
	case CONV_LONGJMP:
		longjmp(handle->driver->back, 1);
	case CONV_EXIT:
		exit(7);
	case CONV_BLOCK:
		block(handle);
		break;
	case CONV_THREAD_EXIT:
		pthread_exit(NULL);
	default:
		break;
	}
}

static int
answer(struct driver_handle *handle, int count,
       const struct pam_message **messages, struct pam_response **responses)
{
	*responses = calloc(count, sizeof(**responses));
	if (*responses == NULL)
		return PAM_BUF_ERR;
	for (int i = 0; i < count; i++)
		if (messages[i]->msg_style == PAM_PROMPT_ECHO_OFF ||
		    messages[i]->msg_style == PAM_PROMPT_ECHO_ON)
			(*responses)[i].resp = strdup(handle->answer);
	return PAM_SUCCESS;
}

static int
converse(char function, int count, const struct pam_message **messages,
	 struct pam_response **responses, struct driver_handle *handle)
{
	int entry = errno;

	for (int i = 0; i < count; i++)
		probe_printf("conversation %c%c %d/%d style=%d errno=%d [%s]",
			     handle->label, function, i + 1, count,
			     messages[i]->msg_style, entry, messages[i]->msg);
	depart(handle);
	errno = ENOTTY; /* what terminal code often leaves */
	if (handle->mode == CONV_FAIL)
		return PAM_CONV_ERR;
	if (handle->mode == CONV_AGAIN)
		return PAM_CONV_AGAIN;
	return answer(handle, count, messages, responses);
}

int
driver_conversation(int count, const struct pam_message **messages,
		    struct pam_response **responses, void *data)
{
	return converse('1', count, messages, responses, data);
}

int
driver_conversation_2(int count, const struct pam_message **messages,
		      struct pam_response **responses, void *data)
{
	return converse('2', count, messages, responses, data);
}

/* The length is random by design, so it is not traced. */
void
driver_delay(int result, unsigned usec, void *data)
{
	const struct driver_handle *handle = data;

	probe_printf("fail delay %c result=%d %s",
		     handle == NULL ? '-' : handle->label, result,
		     usec > 0 ? "some" : "none");
}
