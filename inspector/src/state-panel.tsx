import { useEffect, useState } from 'preact/hooks';
import type { RemoteKey, StateAtMoment, StateKeyChange } from '../../src/client/index.js';
import { shortJson } from './event-parts.js';
import { type Failure, failureOf } from './failures.js';
import { FailureNotice, Loading, Notice } from './notices.js';
import { show } from './page-route.js';
import type { SessionReads } from './session-reads.js';

/** How long a moment is looked at before it is read. */
const PAUSE_MS = 100;

const SCOPES = [
  ['', 'Session'],
  ['user:', 'User'],
  ['app:', 'App'],
] as const;

interface Moment {
  readonly seq: number;
  readonly now: Readonly<Record<string, unknown>>;
  readonly before: Readonly<Record<string, unknown>>;
}

/** The state after an event, and what that event changed. */
export function StatePanel(props: {
  readonly reads: SessionReads;
  readonly sessionKey: RemoteKey;
  readonly seq: number;
  readonly firstSeq: number;
}) {
  const { reads, sessionKey, seq, firstSeq } = props;
  const { appName, userId, sessionId } = sessionKey;
  const [moment, setMoment] = useState<Moment>();
  const [failure, setFailure] = useState<Failure>();
  const [tries, setTries] = useState(0);
  const [key, setKey] = useState<string>();
  useEffect(() => {
    let isOver = false;
    const at = (when: number) => reads.stateAt({ appName, userId, sessionId, seq: when });
    const read = async (): Promise<void> => {
      try {
        const [now, before] = await Promise.all([at(seq), seq >= firstSeq && seq > 0 ? at(seq - 1) : undefined]);
        if (isOver) return;
        setMoment({ seq, now: allOf(now), before: before ? allOf(before) : allOf(now) });
        setFailure(undefined);
      } catch (error) {
        if (!isOver) setFailure(failureOf(error));
      }
    };
    // Those who drag the slider want the state where they stop.
    const timer = setTimeout(() => void read(), PAUSE_MS);
    return () => {
      isOver = true;
      clearTimeout(timer);
    };
  }, [reads, appName, userId, sessionId, seq, firstSeq, tries]);
  if (failure) return <FailureNotice failure={failure} onRetry={() => setTries(tries + 1)} />;
  if (!moment) return <Loading what="the state" />;
  const names = [...new Set([...Object.keys(moment.now), ...Object.keys(moment.before)])].sort();
  if (names.length === 0) return <Notice title={`No state after event ${moment.seq}`} />;
  return (
    <div class="state">
      <p class="hint">After event {moment.seq}. Choose a key to see which events set it.</p>
      {SCOPES.map(([prefix, title]) => {
        const inScope = names.filter((name) => scopeOf(name) === prefix);
        return (
          inScope.length > 0 && (
            <table key={title}>
              <caption>{title}</caption>
              <tbody>
                {inScope.map((name) => (
                  <KeyRow
                    key={name}
                    name={name}
                    moment={moment}
                    onChoose={() => setKey(key === name ? undefined : name)}
                  />
                ))}
              </tbody>
            </table>
          )
        );
      })}
      <p class="hint">
        Keys with <code>temp:</code> live in one run and are never stored.
      </p>
      {key !== undefined && <KeyHistory reads={reads} sessionKey={sessionKey} name={key} />}
    </div>
  );
}

function KeyRow(props: { readonly name: string; readonly moment: Moment; readonly onChoose: () => void }) {
  const { name, moment, onChoose } = props;
  const [now, before] = [valueIn(moment.now, name), valueIn(moment.before, name)];
  const isChanged = now !== before;
  return (
    <tr class={isChanged ? 'changed' : ''}>
      <th scope="row">
        <button type="button" class="link" onClick={onChoose}>
          <bdi>{name}</bdi>
        </button>
      </th>
      <td>
        {isChanged && <del>{before ?? 'not set'}</del>}
        {isChanged ? <ins>{now ?? 'removed'}</ins> : <code>{now}</code>}
      </td>
    </tr>
  );
}

/** Which events set a key, and to what. */
function KeyHistory(props: { readonly reads: SessionReads; readonly sessionKey: RemoteKey; readonly name: string }) {
  const { reads, sessionKey, name } = props;
  const [history, setHistory] = useState<KeyChanges>();
  const [failure, setFailure] = useState<Failure>();
  useEffect(() => {
    let isOver = false;
    setHistory(undefined);
    setFailure(undefined);
    allChanges(reads, sessionKey, name, () => isOver).then(
      (found) => !isOver && setHistory(found),
      (error: unknown) => !isOver && setFailure(failureOf(error)),
    );
    return () => {
      isOver = true;
    };
  }, [reads, sessionKey, name]);
  const changes = history?.changes;
  return (
    <section class="history" aria-label={`History of ${name}`}>
      <h3>
        Who set <bdi>{name}</bdi>
      </h3>
      {failure && <Notice title={failure.title}>{failure.detail}</Notice>}
      {!changes && !failure && <Loading what="its history" />}
      {changes?.length === 0 && history?.isWhole === true && <Notice title="No event that is kept has set it" />}
      {history?.isWhole === false && <p class="hint">These are the first ones: the history is longer.</p>}
      <ol>
        {changes?.map((change, index) => (
          <li key={index}>
            <button type="button" class="link" onClick={() => show({ seq: change.seq })}>
              Event {change.seq}
            </button>{' '}
            <code>
              {change.before} → {change.after}
            </code>
          </li>
        ))}
      </ol>
    </section>
  );
}

/** So many changes are shown at most. A page may have none, since rare keys are looked for in long logs. */
const MOST_CHANGES = 1_000;

/** A change as it is shown: values may be large. */
interface ShownChange {
  readonly seq: number;
  readonly before: string;
  readonly after: string;
}

interface KeyChanges {
  readonly changes: readonly ShownChange[];
  readonly isWhole: boolean;
}

async function allChanges(
  reads: SessionReads,
  { appName, userId, sessionId }: RemoteKey,
  key: string,
  isOver: () => boolean,
): Promise<KeyChanges> {
  const found: ShownChange[] = [];
  let cursor: string | undefined;
  do {
    const { changes, nextCursor } = await reads.stateChanges({ appName, userId, sessionId, key, cursor });
    found.push(...changes.map(shownChange));
    cursor = nextCursor;
  } while (cursor !== undefined && found.length < MOST_CHANGES && !isOver());
  return { changes: found, isWhole: cursor === undefined };
}

function shownChange({ seq, before, after }: StateKeyChange): ShownChange {
  return {
    seq,
    before: before === undefined ? 'not set' : shortJson(before),
    after: after === undefined ? 'removed' : shortJson(after),
  };
}

function allOf({ state, shared }: StateAtMoment): Readonly<Record<string, unknown>> {
  // Own keys only: a key may be called `__proto__`.
  return Object.assign(Object.create(null) as Record<string, unknown>, state, shared);
}

function valueIn(state: Readonly<Record<string, unknown>>, name: string): string | undefined {
  return Object.hasOwn(state, name) ? JSON.stringify(state[name], undefined, 1) : undefined;
}

function scopeOf(name: string): string {
  return SCOPES.find(([prefix]) => prefix !== '' && name.startsWith(prefix))?.[0] ?? '';
}
