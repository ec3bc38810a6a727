import { InvalidInputError } from './errors.js';
import { idProblem } from './ids.js';

/** The end of a page of events. It belongs to one incarnation of a session, not to a later session of the same id. */
export class LogCursor {
  constructor(
    readonly incarnation: string,
    readonly seq: number,
    readonly order: 'asc' | 'desc',
  ) {}

  static parse(text: unknown): LogCursor | undefined {
    const fields = parseFields(text);
    if (!fields) return undefined;
    const [incarnation, seq, order, ...rest] = fields;
    const fits = typeof incarnation === 'string' && Number.isSafeInteger(seq) && isOrder(order) && rest.length === 0;
    return fits ? new LogCursor(incarnation, seq as number, order) : refuse();
  }

  toString(): string {
    return encodeFields([this.incarnation, this.seq, this.order]);
  }
}

/** The end of a page of sessions. */
export class ListCursor {
  constructor(
    readonly orderBy: 'lastUpdateTime' | 'createTime',
    readonly order: 'asc' | 'desc',
    readonly time: number,
    readonly userId: string,
    readonly sessionId: string,
  ) {}

  static parse(text: unknown): ListCursor | undefined {
    const fields = parseFields(text);
    if (!fields) return undefined;
    const [orderBy, order, time, userId, sessionId, ...rest] = fields;
    const fits =
      (orderBy === 'lastUpdateTime' || orderBy === 'createTime') &&
      isOrder(order) &&
      Number.isSafeInteger(time) &&
      isId(userId) &&
      isId(sessionId) &&
      rest.length === 0;
    return fits ? new ListCursor(orderBy, order, time as number, userId, sessionId) : refuse();
  }

  toString(): string {
    return encodeFields([this.orderBy, this.order, this.time, this.userId, this.sessionId]);
  }
}

function encodeFields(fields: readonly unknown[]): string {
  return Buffer.from(JSON.stringify(fields)).toString('base64url');
}

function parseFields(text: unknown): unknown[] | undefined {
  if (text === undefined || text === null) return undefined;
  if (typeof text !== 'string') return refuse();
  try {
    const fields: unknown = JSON.parse(Buffer.from(text, 'base64url').toString());
    return Array.isArray(fields) ? fields : refuse();
  } catch {
    return refuse();
  }
}

function isOrder(value: unknown): value is 'asc' | 'desc' {
  return value === 'asc' || value === 'desc';
}

/** Clients can forge cursors, and not every store accepts every text. */
function isId(value: unknown): value is string {
  return idProblem(value) === undefined;
}

function refuse(): never {
  throw new InvalidInputError('must be the nextCursor of a previous page', 'cursor');
}
