import { useMemo } from 'preact/hooks';
import { estimatedTokens } from '../../src/agents/messages/token-budget.js';
import type { ConversationEvent, ConversationMessage } from '../../src/agents/messages/conversation.js';
import { toMessages } from '../../src/agents/messages/to-messages.js';

/** What fills the context of a model, in the order of the bar. */
const SHARES = ['summary', 'user', 'model', 'tools'] as const;

type Share = (typeof SHARES)[number];

/** About how many tokens a model is given, by who said them. */
export function TokenBar(props: { readonly events: readonly ConversationEvent[] }) {
  const tokens = useMemo(() => tokensOfView(props.events), [props.events]);
  if (!tokens) return undefined;
  const all = SHARES.reduce((sum, share) => sum + tokens[share], 0);
  if (all === 0) return undefined;
  return (
    <figure class="tokens">
      <figcaption>About {all.toLocaleString()} tokens, at four characters each:</figcaption>
      <div class="bar-of-tokens" aria-hidden="true">
        {SHARES.map((share) => (
          <span key={share} class={share} style={{ flexGrow: tokens[share] }} />
        ))}
      </div>
      <ul>
        {SHARES.filter((share) => tokens[share] > 0).map((share) => (
          <li key={share} class={share}>
            {share} {tokens[share].toLocaleString()} ({Math.round((100 * tokens[share]) / all)} %)
          </li>
        ))}
      </ul>
    </figure>
  );
}

/** Nothing for events that no messages can be made of: those below the bar say why. */
function tokensOfView(events: readonly ConversationEvent[]): Readonly<Record<Share, number>> | undefined {
  const tokens = { summary: 0, user: 0, model: 0, tools: 0 };
  const estimateTokens = (message: ConversationMessage): number => {
    const estimated = estimatedTokens(message);
    tokens[shareOf(message)] += estimated;
    return estimated;
  };
  try {
    toMessages(events, { format: 'google', tokenBudget: Number.MAX_SAFE_INTEGER, estimateTokens });
    return tokens;
  } catch {
    return undefined;
  }
}

function shareOf({ role, begins }: ConversationMessage): Share {
  if (begins === 'summary') return 'summary';
  return role === 'tool' ? 'tools' : role;
}
