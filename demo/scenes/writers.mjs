import { SESSION, fromAnn, tell } from '../conversation.mjs';
import { expectThat, heading, result, step } from '../screen.mjs';

/** An append that is sent twice, and a writer who comes late. */
export async function showWriters(client) {
  heading('Sent twice, stored once; and a writer who comes late');
  const event = { id: 'ann-asks-again', ...fromAnn('Will it be here by Friday?') };
  step('An append with an id of its own, and the same again, as after a lost answer');
  const first = await tell(client, event);
  const { event: second, duplicate } = await client.append({ ...SESSION, event });
  result(`duplicate: ${duplicate}; both times it is number ${first.seq} of the log`);
  expectThat(duplicate && second.seq === first.seq, 'a duplicate was stored');

  step(`Somebody writes who has seen the session only up to version ${first.seq - 1}`);
  const late = { ...SESSION, event: { author: 'agent' }, expectedVersion: first.seq - 1 };
  const refusal = await client.append(late).catch((error) => error);
  result(`refused: ${refusal.status} ${refusal.code}, the session is at version ${refusal.currentVersion}`);
  expectThat(refusal.code === 'STALE_SESSION', 'a stale write was taken');
}
