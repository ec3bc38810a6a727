// Ann and an agent that knows its answers already.
import { line, textOf } from './screen.mjs';

export const SESSION = { appName: 'shop', userId: 'ann', sessionId: 'order-1042' };

const said = (author, role, text, actions) => ({
  author,
  content: { role, parts: [{ text }] },
  ...(actions && { actions }),
});
export const fromAnn = (text) => said('user', 'user', text);
export const fromAgent = (text, actions) => said('agent', 'model', text, actions);

/** Appends an event to Ann's session, and shows it. */
export async function tell(client, event) {
  const stored = await client.appendEvent({ ...SESSION, event });
  line(stored.author === 'user' ? 'ann' : stored.author, textOf(stored));
  return stored;
}

/** A question and its answer. */
export async function turn(client, question, answer, actions) {
  await tell(client, fromAnn(question));
  return tell(client, fromAgent(answer, actions));
}
