import { componentNameProblem, componentSessionProblem } from '../sessions/domain/stored/component.js';
import { type Counters, storedCounters } from '../sessions/domain/stored/counters.js';
import { idProblem } from '../sessions/domain/values/ids.js';
import { isCount } from '../sessions/domain/values/input-checks.js';
import { type ModelUsage, UNKNOWN_MODEL, usageWith } from '../sessions/domain/usage/usage.js';
import type { SeqRange } from '../sessions/domain/values/seq-ranges.js';
import type { ViewMarks } from '../sessions/domain/stored/view-marks.js';
import type { StoredScope } from '../state/scopes.js';
import type { StateEntries } from '../sessions/storage/session-storage.js';
import type { PeriodUsage } from '../sessions/storage/transfer-store.js';
import { TransferFileError } from './transfer-errors.js';
import { isTooDeep } from './json-depth.js';
import { eventProblem, metadataProblem, stateProblem } from '../sessions/domain/write/stored-forms.js';
import type {
  ComponentLine,
  EventLine,
  SessionLine,
  SkippedLine,
  StateLine,
  TransferRecord,
  UsageLine,
} from './transfer-records.js';

type Fields = Readonly<Record<string, unknown>>;

/** A record of a line. Refuses what no export writes, so that nothing of it reaches a store. */
export function parsedRecord(fields: Fields, line: number): TransferRecord {
  const reader = new FieldReader(fields, line);
  switch (fields.kind) {
    case 'session':
      return session(reader);
    case 'event':
      return event(reader);
    case 'end':
      return { kind: 'end', events: reader.count('events'), digest: reader.text('digest') };
    case 'state':
      return state(reader);
    case 'usage':
      return usage(reader);
    case 'component':
      return component(reader);
    case 'void':
      return { kind: 'void', problem: reader.text('problem') };
    case 'skipped':
      return skipped(reader);
    default:
      throw new TransferFileError('its `kind` is unknown', line);
  }
}

function session(reader: FieldReader): SessionLine {
  const [firstSeq, lastSeq, tipSeq] = [reader.count('firstSeq'), reader.count('lastSeq'), reader.count('tipSeq')];
  if (firstSeq < 1 || lastSeq < firstSeq - 1) reader.refuse('firstSeq');
  if (tipSeq > lastSeq) reader.refuse('tipSeq');
  return {
    kind: 'session',
    appName: reader.id('appName'),
    userId: reader.id('userId'),
    sessionId: reader.id('sessionId'),
    createTime: reader.count('createTime'),
    lastUpdateTime: reader.count('lastUpdateTime'),
    expiresAt: reader.optionalCount('expiresAt'),
    firstSeq,
    lastSeq,
    tipSeq,
    counters: counters(reader.inner('counters')),
    marks: marks(reader.inner('marks')),
    marksSeq: reader.count('marksSeq'),
    turnsOnly: reader.fields.turnsOnly === true,
    metadata: metadata(reader),
    state: serializeFieldValues(reader.state('state', 'session')),
    baseState: JSON.stringify(reader.state('baseState', 'session')),
    usage: models(reader.fields.usage),
  };
}

function metadata(reader: FieldReader): StateEntries {
  const entries = serializeFieldValues(reader.object('metadata'));
  reader.accept(metadataProblem(entries));
  return entries;
}

const REASONS = ['deleted', 'changing', 'damaged'] as const;

function skipped(reader: FieldReader): SkippedLine {
  const reason = REASONS.find((known) => known === reader.fields.reason) ?? reader.refuse('reason');
  const key = { appName: reader.id('appName'), userId: reader.id('userId'), sessionId: reader.id('sessionId') };
  return { kind: 'skipped', ...key, reason, problem: reader.text('problem') };
}

function component(reader: FieldReader): ComponentLine {
  const { session: of, name, type, items } = reader.fields;
  if (componentSessionProblem(of) !== undefined) reader.refuse('session');
  if (componentNameProblem(name) !== undefined) reader.refuse('name');
  if (type !== 'value' && type !== 'list') return reader.refuse('type');
  const length = reader.count('length');
  if (type === 'value' && length !== 1) reader.refuse('length');
  if (!Array.isArray(items) || !items.every(isJsonText)) return reader.refuse('items');
  return {
    kind: 'component',
    session: of as string,
    name: name as string,
    type,
    expiresAt: reader.optionalCount('expiresAt'),
    length,
    digest: reader.text('digest'),
    from: reader.count('from'),
    items,
  };
}

/** The longest text of a component. */
const MOST_BYTES = 16 * 1_048_576;

function isJsonText(text: unknown): text is string {
  if (typeof text !== 'string' || !text.isWellFormed() || Buffer.byteLength(text) > MOST_BYTES) return false;
  if (isTooDeep(text)) return false;
  try {
    JSON.parse(text);
    return true;
  } catch {
    return false;
  }
}

/** A counter that a later version added is missing. */
function counters(reader: FieldReader): Counters {
  return storedCounters(Object.fromEntries(Object.keys(reader.fields).map((name) => [name, reader.count(name)])));
}

function marks(reader: FieldReader): ViewMarks {
  const { hidden } = reader.fields;
  if (!Array.isArray(hidden)) return reader.refuse('hidden');
  return {
    hidden: hidden.map((range: unknown) => {
      const { from, to } = (range ?? {}) as Partial<SeqRange>;
      return isCount(from) && isCount(to) ? { from, to } : reader.refuse('hidden');
    }),
    viewFromSeq: reader.count('viewFromSeq'),
    summarySeq: reader.count('summarySeq'),
    covered: counters(reader.inner('covered')),
  };
}

function event(reader: FieldReader): EventLine {
  const given = reader.inner('event');
  given.id('id');
  given.object('actions');
  if (typeof given.fields.timestamp !== 'number') given.refuse('timestamp');
  const { fields } = given;
  given.accept(eventProblem(fields));
  return {
    kind: 'event',
    seq: reader.count('seq'),
    appendedAt: reader.count('appendedAt'),
    payload: JSON.stringify(fields),
  };
}

function state(reader: FieldReader): StateLine {
  const owner = reader.owner();
  return {
    kind: 'state',
    ...owner,
    expiresAt: reader.optionalCount('expiresAt'),
    entries: serializeFieldValues(reader.state('state', owner.userId === undefined ? 'app' : 'user')),
  };
}

const PERIOD = /^\d{4}-\d{2}(-\d{2})?$/;

function usage(reader: FieldReader): UsageLine {
  const { sums } = reader.fields;
  if (!Array.isArray(sums)) return reader.refuse('sums');
  return {
    kind: 'usage',
    ...reader.owner(),
    sums: sums.map((sum: unknown) => {
      const { period, models: of } = (sum ?? {}) as Partial<PeriodUsage>;
      return typeof period === 'string' && PERIOD.test(period) ? { period, models: models(of) } : reader.refuse('sums');
    }),
  };
}

function models(value: unknown): ModelUsage[] {
  if (!Array.isArray(value)) return [];
  return value.map((item: unknown) => {
    const given = (item ?? {}) as Partial<ModelUsage>;
    return {
      model: typeof given.model === 'string' && idProblem(given.model) === undefined ? given.model : UNKNOWN_MODEL,
      ...usageWith((name) => (isCount(given[name]) ? given[name] : 0)),
    };
  });
}

class FieldReader {
  constructor(
    readonly fields: Fields,
    readonly line: number,
  ) {}

  refuse(name: string): never {
    throw new TransferFileError(`\`${name}\` is missing or wrong`, this.line);
  }

  /** Refuses what a check has found. */
  accept(problem: string | undefined): void {
    if (problem !== undefined) throw new TransferFileError(problem, this.line);
  }

  id(name: string): string {
    const value = this.fields[name];
    return idProblem(value) === undefined ? (value as string) : this.refuse(name);
  }

  text(name: string): string {
    const value = this.fields[name];
    return typeof value === 'string' ? value : this.refuse(name);
  }

  count(name: string): number {
    const value = this.fields[name];
    return isCount(value) ? value : this.refuse(name);
  }

  optionalCount(name: string): number | undefined {
    return this.fields[name] === undefined ? undefined : this.count(name);
  }

  object(name: string): Fields {
    const value = this.fields[name];
    if (typeof value !== 'object' || value === null || Array.isArray(value)) return this.refuse(name);
    return value as Fields;
  }

  inner(name: string): FieldReader {
    return new FieldReader(this.object(name), this.line);
  }

  owner(): { appName: string; userId?: string } {
    const appName = this.id('appName');
    return this.fields.userId === undefined ? { appName } : { appName, userId: this.id('userId') };
  }

  state(name: string, scope: StoredScope): Fields {
    const fields = this.object(name);
    this.accept(stateProblem(fields, scope));
    return fields;
  }
}

function serializeFieldValues(fields: Fields): StateEntries {
  return Object.entries(fields).map(([key, value]) => [key, JSON.stringify(value)] as const);
}
