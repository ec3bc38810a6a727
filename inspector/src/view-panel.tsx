import { useMemo, useState } from 'preact/hooks';
import { type MessageFormat, toMessages } from '../../src/agents/messages/to-messages.js';
import type { LoggedEvent } from '../../src/sessions/domain/event/event.js';
import type { Api } from './api.js';
import { tokensOf } from './event-kinds.js';
import { decisionText } from './explained-events.js';
import { Loading, Notice } from './notices.js';
import { show } from './page-route.js';
import type { SessionLog } from './session-log.js';
import { NextSummary } from './summary-outlook.js';
import { TokenBar } from './token-bar.js';

const FORMATS: readonly MessageFormat[] = ['openai', 'anthropic', 'google', 'ai-sdk'];

/** What a model is given now: the events of the view, and the messages that are made of them. */
export function ViewPanel(props: { readonly log: SessionLog; readonly api: Api | undefined; readonly seq: number }) {
  const { log, api, seq } = props;
  const [format, setFormat] = useState<MessageFormat>('openai');
  const session = log.session.value;
  if (!session) return <Loading what="the view" />;
  const { events, eventsTruncated } = session;
  const all = log.lastSeq.value - log.firstSeq.value + 1;
  const summary = events.find(({ actions }) => actions.compaction);
  const tokens = events.reduce((sum, event) => sum + (tokensOf(event) ?? 0), 0);
  return (
    <div class="view">
      <p>
        {events.length.toLocaleString()} of {all.toLocaleString()} events are given to a model now.
      </p>
      <meter min={0} max={Math.max(1, all)} value={events.length} aria-label="Share of the log that is in the view" />
      <p class="hint">{tokens.toLocaleString()} tokens were counted in these events.</p>
      <Decided log={log} seq={seq} />
      {summary && (
        <p class="hint">
          A summary stands for what came before:{' '}
          <button type="button" class="link" onClick={() => show({ seq: summary.seq })}>
            event {summary.seq}
          </button>
        </p>
      )}
      {eventsTruncated === true && <p class="hint">Older events were left out because of their size.</p>}
      <TokenBar events={events} />
      {api?.may('summarise') && <NextSummary api={api} log={log} />}
      <label>
        As messages for{' '}
        <select value={format} onChange={(event) => setFormat(event.currentTarget.value as MessageFormat)}>
          {FORMATS.map((name) => (
            <option key={name} value={name}>
              {name}
            </option>
          ))}
        </select>
      </label>
      <Messages events={events} format={format} />
    </div>
  );
}

/** Whether the chosen event is given to a model, and which event decided it. */
function Decided(props: { readonly log: SessionLog; readonly seq: number }) {
  const { log, seq } = props;
  const decision = log.decisionOn(seq);
  if (!decision) return undefined;
  const { inView, by } = decision;
  const why = decisionText(seq, decision);
  return (
    <p>
      Event {seq} is {inView ? 'given' : 'not given'} to a model{why === undefined ? '' : `: ${why}`}.{' '}
      {by !== undefined && by !== seq && (
        <button type="button" class="link" onClick={() => show({ seq: by })}>
          Go to event {by}
        </button>
      )}
    </p>
  );
}

function Messages(props: { readonly events: readonly LoggedEvent[]; readonly format: MessageFormat }) {
  const { events, format } = props;
  const text = useMemo(() => messagesOf(events, format), [events, format]);
  if (text instanceof Error) return <Notice title="No messages can be made">{text.message}</Notice>;
  return <pre tabIndex={0}>{text}</pre>;
}

function messagesOf(events: Parameters<typeof toMessages>[0], format: MessageFormat): string | Error {
  try {
    return JSON.stringify(toMessages(events, { format }), undefined, 2);
  } catch (error) {
    return error instanceof Error ? error : new Error(String(error));
  }
}
