import { type Artifact, type ListTasksRequest, type Message, type Part, Role, type Task, TaskState } from '@a2a-js/sdk';
import { ServerCallContext } from '@a2a-js/sdk/server';

/** A call of a user of a tenant. `null`: nobody has signed in. */
export function callOf({
  user = 'ann',
  tenant,
  version,
}: { user?: string | null; tenant?: string; version?: string } = {}) {
  return new ServerCallContext({
    ...(tenant !== undefined && { tenant }),
    ...(version !== undefined && { requestedVersion: version }),
    ...(user !== null && { user: { isAuthenticated: true, userName: user } }),
  });
}

export function textPart(value: string): Part {
  return { content: { $case: 'text', value }, metadata: undefined, filename: '', mediaType: '' };
}

export function message(messageId: string, text = messageId, role = Role.ROLE_USER): Message {
  return {
    messageId,
    contextId: '',
    taskId: '',
    role,
    parts: [textPart(text)],
    metadata: undefined,
    extensions: [],
    referenceTaskIds: [],
  };
}

export function artifact(artifactId: string, ...texts: string[]): Artifact {
  return { artifactId, name: '', description: '', parts: texts.map(textPart), metadata: undefined, extensions: [] };
}

export function statusOf(state: TaskState, timestamp?: string, said?: Message): NonNullable<Task['status']> {
  return { state, timestamp, message: said };
}

export function taskOf(id: string, fields: Partial<Task> = {}): Task {
  return {
    id,
    contextId: 'c1',
    status: statusOf(TaskState.TASK_STATE_WORKING),
    artifacts: [],
    history: [],
    metadata: {},
    ...fields,
  };
}

export function listOf(fields: Partial<ListTasksRequest> = {}): ListTasksRequest {
  return {
    tenant: '',
    contextId: '',
    status: TaskState.TASK_STATE_UNSPECIFIED,
    pageToken: '',
    statusTimestampAfter: undefined,
    ...fields,
  };
}

export function idsOf(items: readonly { readonly id: string }[]): string[] {
  return items.map(({ id }) => id);
}

export function messageIds(task: Task | undefined): string[] {
  return (task?.history ?? []).map(({ messageId }) => messageId);
}

/** The texts of the parts of each artifact, by its id. */
export function artifactTexts(task: Task | undefined): Record<string, string[]> {
  return Object.fromEntries((task?.artifacts ?? []).map(({ artifactId, parts }) => [artifactId, parts.map(textIn)]));
}

function textIn({ content }: Part): string {
  return content?.$case === 'text' ? content.value : '';
}
