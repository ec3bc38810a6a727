import type { EventInput } from '../../sessions/domain/event.js';
import type { NumberedCall } from '../../sessions/domain/open-calls.js';
import type { ToolRun } from './tool-run.js';

/** What tools have done, and the handler has not yielded yet. Agents that work side by side run tools at the same time. */
export class DoneTools {
  #runs: ToolRun[] = [];

  add(run: ToolRun): void {
    this.#runs.push(run);
  }

  /** Forgets what is answered. */
  keepOnly(open: readonly NumberedCall[]): void {
    this.#runs = this.#runs.filter(({ calls }) => calls.some((call) => open.includes(call)));
  }

  /** Their responses to calls that are open. */
  responses(open: readonly NumberedCall[]): EventInput[] {
    return this.#runs.flatMap((run) => run.responses(run.calls.filter((call) => open.includes(call))));
  }

  /** Waits until no tool works any more. */
  async settled(): Promise<void> {
    await Promise.all(this.#runs.map((run) => run.settled));
  }
}
