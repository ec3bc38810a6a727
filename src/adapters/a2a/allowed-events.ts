import type { StreamResponse } from '@a2a-js/sdk';
import type { ServerCallContext } from '@a2a-js/sdk/server';
import type { StreamAccess } from '../../adapter.js';
import type { TaskAccess } from './task-access.js';

type Events = AsyncGenerator<StreamResponse, void, undefined>;

/** What a call of a client streams. The audit notes that it begins with the first event. */
export async function* begunEvents(
  access: TaskAccess,
  context: ServerCallContext,
  ask: () => Promise<void>,
  events: Events,
): Events {
  const first = await access.call(context, ask, () => events.next(), { isStream: true });
  if (first.done) return;
  try {
    yield first.value;
    yield* events;
  } catch (error) {
    throw access.errorOf(error);
  } finally {
    await events.return(undefined);
  }
}

/** What an agent says in a task, until the access rule no longer lets the caller read it. The agent goes on. */
export async function* saidEvents(
  events: Events,
  access: TaskAccess,
  context: ServerCallContext,
  taskId: string,
): Events {
  let isRefused = false;
  try {
    if (taskId) yield* whileAllowed(events, access, context, taskId);
    else yield* eventsOfNewTask(events, access, context);
  } catch (error) {
    isRefused = true;
    throw error;
  } finally {
    // The SDK stores what the agent says while the stream is read.
    void (isRefused ? readRest(events, access) : events.return(undefined));
  }
}

/** What happens in a task, until the access rule no longer lets the caller read it. */
export async function* followedEvents(
  events: Events,
  access: TaskAccess,
  context: ServerCallContext,
  taskId: string,
): Events {
  try {
    yield* whileAllowed(events, access, context, taskId);
  } finally {
    void events.return(undefined);
  }
}

/** The first event says which task it is. */
async function* eventsOfNewTask(events: Events, access: TaskAccess, context: ServerCallContext): Events {
  const first = await events.next();
  if (first.done) return;
  const taskId = taskIdOf(first.value);
  if (taskId) await access.mayRead(taskId, context, { isPart: true });
  yield first.value;
  yield* whileAllowed(events, access, context, taskId);
}

async function* whileAllowed(events: Events, access: TaskAccess, context: ServerCallContext, taskId: string): Events {
  const followed = access.follow(taskId, context);
  if (!followed) return yield* events;
  const next = createAbortableReader(events, followed);
  try {
    for (let read = await next(); !read.done; read = await next()) yield read.value;
  } finally {
    followed.close();
  }
}

/** Reads the next event, unless access ends first. */
function createAbortableReader(events: Events, { signal }: StreamAccess): () => ReturnType<Events['next']> {
  let end: ((reason: unknown) => void) | undefined;
  signal.addEventListener('abort', () => end?.(signal.reason));
  return async () =>
    new Promise((resolve, reject) => {
      end = reject;
      if (signal.aborted) reject(signal.reason);
      else events.next().then(resolve, reject);
    });
}

async function readRest(events: Events, access: TaskAccess): Promise<void> {
  try {
    while (!(await events.next()).done);
  } catch (error) {
    access.errorOf(error);
  }
}

/** Empty for a message that belongs to no task. */
function taskIdOf({ payload }: StreamResponse): string {
  switch (payload?.$case) {
    case 'task':
      return payload.value.id;
    case 'statusUpdate':
    case 'artifactUpdate':
      return payload.value.taskId;
    default:
      return '';
  }
}
