import { type ListTasksRequest, type ListTasksResponse, TaskState } from '@a2a-js/sdk';
import { RequestMalformedError } from '@a2a-js/sdk/errors';
import { type UserKey, compareBytes } from '../../sessions/domain/ids.js';
import { pagesOf } from '../../sessions/domain/paging.js';
import type { SessionService } from '../../sessions/session.service.js';
import { taskOf } from './task-json.js';
import { labelFilter, timeOf } from './task-labels.js';
import type { TaskLogs } from './task-logs.js';

const DEFAULT_PAGE = 50;
const MOST_AT_ONCE = 8;

/** Where a task is in a list: the newest status first, then by id. */
interface Position {
  readonly time: string;
  readonly id: string;
}

/** Lists the tasks of an owner. Logs are read only for the tasks of the page. */
export class TaskList {
  constructor(
    private readonly sessions: SessionService,
    private readonly logs: TaskLogs,
  ) {}

  async read(owner: UserKey, request: ListTasksRequest): Promise<ListTasksResponse> {
    const { pageSize = DEFAULT_PAGE, includeArtifacts = false } = request;
    const after = request.pageToken ? positionOf(request.pageToken) : undefined;
    const found = (await this.#positions(owner, request)).toSorted(inListOrder);
    const rest = after ? found.filter((each) => inListOrder(each, after) > 0) : found;
    const page = rest.slice(0, pageSize);
    const last = page.at(-1);
    const tasks = [];
    for (let from = 0; from < page.length; from += MOST_AT_ONCE) {
      const ids = page.slice(from, from + MOST_AT_ONCE).map(({ id }) => id);
      const read = await Promise.all(ids.map((sessionId) => this.logs.read({ ...owner, sessionId })));
      tasks.push(
        ...ids.flatMap((id, index) => {
          const task = read[index]?.task;
          return task ? [taskOf(id, includeArtifacts ? task : { ...task, artifacts: [] })] : [];
        }),
      );
    }
    const isMore = last !== undefined && rest.length > page.length;
    return { tasks, nextPageToken: isMore ? tokenOf(last) : '', pageSize, totalSize: found.length };
  }

  /** The list of an owner who can have no tasks. */
  empty({ pageSize = DEFAULT_PAGE }: ListTasksRequest): ListTasksResponse {
    return { tasks: [], nextPageToken: '', pageSize, totalSize: 0 };
  }

  async #positions(owner: UserKey, request: ListTasksRequest): Promise<Position[]> {
    const { contextId, status, statusTimestampAfter } = request;
    const isAnyState = status === undefined || status === TaskState.TASK_STATE_UNSPECIFIED;
    const filter = labelFilter({ contextId, state: isAnyState ? undefined : TaskState[status] });
    const from = statusTimestampAfter ? Date.parse(statusTimestampAfter) : -Infinity;
    const positions: Position[] = [];
    const list = { ...owner, filter, orderBy: 'createTime', includeState: false, limit: 1_000 } as const;
    for await (const { sessions } of pagesOf((cursor) => this.sessions.listSessions({ ...list, cursor }))) {
      positions.push(...sessions.map(({ id, metadata }) => ({ id, time: timeOf(metadata) })));
    }
    return statusTimestampAfter ? positions.filter(({ time }) => Date.parse(time) > from) : positions;
  }
}

function inListOrder(a: Position, b: Position): number {
  return compareBytes(b.time, a.time) || compareBytes(b.id, a.id);
}

function tokenOf({ time, id }: Position): string {
  return Buffer.from(`${time}|${id}`).toString('base64');
}

function positionOf(token: string): Position {
  const text = Buffer.from(token, 'base64').toString();
  const end = text.indexOf('|');
  if (end < 0) throw new RequestMalformedError('pageToken is none that a list returned.');
  return { time: text.slice(0, end), id: text.slice(end + 1) };
}
