import { textsOf } from '../../sessions/domain/event-inspection.js';
import type { EventInput } from '../../sessions/domain/event.js';
import type { NumberedCall } from '../../sessions/domain/open-calls.js';

/** The handlers of which the log knows. */
const known = new WeakSet<object>();

/**
 * Finds a handler that is called again after an approval, and asks its model first: it says what a tool did before the tool has run.
 * Each handler is told once.
 */
export class EarlyAnswers {
  /** @param waiting the calls that were open when the handler was called again */
  constructor(
    private readonly handler: object,
    private readonly waiting: readonly NumberedCall[],
    private readonly report: (error: unknown) => void,
  ) {}

  /** @param open the calls that are still open */
  check(event: EventInput, open: readonly NumberedCall[]): void {
    if (this.waiting.length === 0 || known.has(this.handler) || textsOf(event).length === 0) return;
    const left = this.waiting.find((call) => call.author === event.author && open.includes(call));
    if (!left) return;
    known.add(this.handler);
    this.report(new EarlyAnswerWarning(left));
  }
}

/** What the author of a handler reads. */
class EarlyAnswerWarning extends Error {
  constructor({ author, call }: NumberedCall) {
    super(
      `The agent ${JSON.stringify(author)} goes on after an approval, and speaks while its call of ${JSON.stringify(call.name)} has no ` +
        'response. Run open calls first: if (context.openCalls.length > 0) yield await context.callTools(tools). agentLoop() does so.',
    );
    this.name = 'EarlyAnswerWarning';
  }
}
