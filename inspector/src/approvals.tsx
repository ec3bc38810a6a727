import { useEffect, useState } from 'preact/hooks';
import type { RemoteApproval, RemoteKey } from '../../src/client/index.js';
import type { Api } from './api.js';
import { shortJson } from './event-parts.js';
import { failureOf } from './failures.js';
import { Notice } from './notices.js';

/** What the agent of this session asks, with its arguments. */
export function Approvals(props: {
  readonly api: Api;
  readonly sessionKey: RemoteKey;
  /** The approvals are read again with each event. */
  readonly version: number;
}) {
  const { api, sessionKey, version } = props;
  const { appName, userId, sessionId } = sessionKey;
  const [approvals, setApprovals] = useState<readonly RemoteApproval[]>([]);
  const [problem, setProblem] = useState<string>();
  useEffect(() => {
    let isOver = false;
    approvalsOf(api, { appName, userId, sessionId }, () => isOver).then(
      (found) => {
        if (isOver) return;
        setApprovals(found);
        setProblem(undefined);
      },
      (error: unknown) => !isOver && setProblem(problemOf(error)),
    );
    return () => {
      isOver = true;
    };
  }, [api, appName, userId, sessionId, version]);
  return (
    <>
      {problem !== undefined && <Notice title="An agent waits for an approval">{problem}</Notice>}
      {approvals.map((approval) => (
        <Approval key={approval.approvalId} api={api} approval={approval} />
      ))}
    </>
  );
}

/** An app may show sessions without the routes of their agents. */
function problemOf(error: unknown): string {
  const { kind, detail } = failureOf(error);
  return kind === 'missing' ? 'It cannot be answered here: there are no routes of agents.' : detail;
}

/** Those of one session. They are listed for the user. */
async function approvalsOf(
  api: Api,
  { appName, userId, sessionId }: RemoteKey,
  isOver: () => boolean,
): Promise<RemoteApproval[]> {
  const found: RemoteApproval[] = [];
  let cursor: string | undefined;
  do {
    const { approvals, nextCursor } = await api.client.listApprovals({ appName, userId, cursor });
    found.push(...approvals.filter((approval) => approval.sessionId === sessionId));
    cursor = nextCursor;
    // Those of one session are on one page.
  } while (cursor !== undefined && found.length === 0 && !isOver());
  return found;
}

function Approval(props: { readonly api: Api; readonly approval: RemoteApproval }) {
  const { api, approval } = props;
  const [payload, setPayload] = useState('');
  const [problem, setProblem] = useState<string>();
  const [isSent, setSent] = useState(false);
  const answer = async (confirmed: boolean): Promise<void> => {
    setSent(true);
    try {
      const given = payload.trim() === '' ? {} : { payload: JSON.parse(payload) as unknown };
      await api.client.answerApproval({ ...approval, confirmed, payload: undefined, ...given });
    } catch (error) {
      setProblem(failureOf(error).detail);
    } finally {
      setSent(false);
    }
  };
  return (
    <section class="approval" aria-label="Approval">
      <strong>
        <bdi>{approval.hint ?? `${approval.tool ?? approval.agentName} asks for an approval`}</bdi>
      </strong>
      {approval.call && (
        <code>
          {approval.call.name} {shortJson(approval.call.args)}
        </code>
      )}
      {approval.payload !== undefined && <code>{shortJson(approval.payload)}</code>}
      {api.may('approve') && (
        <div class="buttons">
          {approval.schema && (
            <input
              aria-label="Payload, as JSON"
              placeholder="Payload, as JSON"
              value={payload}
              onInput={(event) => setPayload(event.currentTarget.value)}
            />
          )}
          <button type="button" class="primary" disabled={isSent} onClick={() => void answer(true)}>
            Approve
          </button>
          <button type="button" disabled={isSent} onClick={() => void answer(false)}>
            Refuse
          </button>
        </div>
      )}
      {problem !== undefined && <p role="alert">{problem}</p>}
    </section>
  );
}
