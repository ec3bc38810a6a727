import { SESSION } from '../conversation.mjs';
import { expectThat, heading, line, result, speakerOf, step, textOf } from '../screen.mjs';

/** A reader who wants the newest events only. */
export async function showFiltering(client) {
  heading('As much of it as one wants to read');
  const whole = await client.getSession(SESSION);
  step('numRecentEvents: 2');
  const recent = await client.getSession({ ...SESSION, numRecentEvents: 2 });
  for (const event of recent.events) line(speakerOf(event), textOf(event));
  result(`${recent.events.length} of ${whole.events.length} events; the state is whole, step: ${recent.state.step}`);
  expectThat(recent.events.length === 2 && recent.version === whole.version, 'a narrowed view');
}
