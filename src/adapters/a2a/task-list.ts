import { type ListTasksRequest, type ListTasksResponse, type Task, TaskState } from '@a2a-js/sdk';
import { RequestMalformedError } from '@a2a-js/sdk/errors';
import { limitsOf, readPages } from '../../adapter.js';
import type { SessionFilter, SessionService, UserKey } from '../../index.js';
import { inByteOrder } from '../shared/byte-order.js';
import { readableSession } from '../shared/readable-session.js';
import { type TaskJson, taskOf } from './task-json.js';
import { labelFilter, readStatusTime } from './task-labels.js';
import type { TaskLogs } from './task-logs.js';

const DEFAULT_PAGE = 50;
const MOST_AT_ONCE = 8;

/** Where a task is in a list: the newest status first, then by id. */
interface Position {
  readonly time: string;
  readonly id: string;
}

interface FoundTask {
  readonly position: Position;
  readonly task: TaskJson | undefined;
}

/** Lists the tasks of an owner. Logs are read only for the tasks of the page. */
export class TaskList {
  constructor(
    private readonly sessions: SessionService,
    private readonly logs: TaskLogs,
  ) {}

  /** @param within what the caller may see */
  async read(owner: UserKey, request: ListTasksRequest, within?: SessionFilter): Promise<ListTasksResponse> {
    const { pageSize = DEFAULT_PAGE, includeArtifacts = false } = request;
    const after = request.pageToken ? parsePageToken(request.pageToken) : undefined;
    const found = (await this.#positions(owner, request, within)).toSorted(inListOrder);
    const rest = after ? found.filter((each) => inListOrder(each, after) > 0) : found;
    const tasks: Task[] = [];
    let last: Position | undefined;
    for await (const { position, task } of this.#tasksAt(owner, rest.slice(0, pageSize), includeArtifacts)) {
      if (task) tasks.push(taskOf(position.id, task));
      last = position;
    }
    const isMore = last !== undefined && last !== rest.at(-1);
    return { tasks, nextPageToken: isMore && last ? formatPageToken(last) : '', pageSize, totalSize: found.length };
  }

  /** As many as a page of the service may have bytes, at least one. A task is undefined if it was deleted meanwhile. */
  async *#tasksAt(owner: UserKey, page: readonly Position[], includeArtifacts: boolean): AsyncGenerator<FoundTask> {
    const { maxPageBytes } = limitsOf(this.sessions);
    let bytes = 0;
    for (let from = 0; from < page.length; from += MOST_AT_ONCE) {
      const positions = page.slice(from, from + MOST_AT_ONCE);
      const read = await Promise.all(positions.map(({ id }) => this.logs.read({ ...owner, sessionId: id })));
      for (const [index, position] of positions.entries()) {
        const found = read[index]?.task;
        const task = found && (includeArtifacts ? found : { ...found, artifacts: [] });
        const more = task ? Buffer.byteLength(JSON.stringify(task)) : 0;
        if (bytes > 0 && bytes + more > maxPageBytes) return;
        bytes += more;
        yield { position, task };
      }
    }
  }

  /** The list of an owner who can have no tasks. */
  empty({ pageSize = DEFAULT_PAGE }: ListTasksRequest): ListTasksResponse {
    return { tasks: [], nextPageToken: '', pageSize, totalSize: 0 };
  }

  async #positions(owner: UserKey, request: ListTasksRequest, within: SessionFilter | undefined): Promise<Position[]> {
    const { contextId, status, statusTimestampAfter } = request;
    const isAnyState = status === undefined || status === TaskState.TASK_STATE_UNSPECIFIED;
    const filter = labelFilter({ contextId, state: isAnyState ? undefined : TaskState[status] });
    const from = statusTimestampAfter ? Date.parse(statusTimestampAfter) : -Infinity;
    const positions: Position[] = [];
    const list = { ...owner, filter, within, orderBy: 'createTime', includeState: false, limit: 1_000 } as const;
    for await (const { sessions } of readPages((cursor) => this.sessions.listSessions({ ...list, cursor }))) {
      for (const listed of sessions) {
        const { id, metadata } = await readableSession(this.sessions, listed);
        positions.push({ id, time: readStatusTime(metadata) });
      }
    }
    return statusTimestampAfter ? positions.filter(({ time }) => Date.parse(time) > from) : positions;
  }
}

function inListOrder(a: Position, b: Position): number {
  return inByteOrder(b.time, a.time) || inByteOrder(b.id, a.id);
}

function formatPageToken({ time, id }: Position): string {
  return Buffer.from(`${time}|${id}`).toString('base64');
}

function parsePageToken(token: string): Position {
  const text = Buffer.from(token, 'base64').toString();
  const end = text.indexOf('|');
  if (end < 0) throw new RequestMalformedError('pageToken is none that a list returned.');
  return { time: text.slice(0, end), id: text.slice(end + 1) };
}
