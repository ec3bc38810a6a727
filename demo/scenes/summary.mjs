import { setTimeout as delay } from 'node:timers/promises';
import { SESSION, tell, turn, fromAgent } from '../conversation.mjs';
import { expectThat, heading, line, result, speakerOf, step, textOf } from '../screen.mjs';

/** More turns than these, and a summary is due; so many events stay as they are. */
export const SUMMARY_SETTINGS = { SUMMARIZER_TURNS: '4', SUMMARIZER_KEEP_RECENT_EVENTS: '2' };

/** The old part of a conversation becomes a summary, and stays in the log. */
export async function showSummary(client) {
  heading('What is long gets short');
  step(`Two turns more, and there are more than ${SUMMARY_SETTINGS.SUMMARIZER_TURNS}`);
  await tell(client, fromAgent('Of course, I have told the courier: Mr Okafor, next door.'));
  await turn(client, 'And what does the train cost me?', 'Nothing: delivery is free from 50 euros on.');
  await turn(client, 'Then I am happy. Thank you!', 'My pleasure, Ann. Enjoy it!');
  const { events } = await summarised(client);
  const { lastSeq } = await client.listEvents({ ...SESSION, limit: 1 });
  for (const event of events) line(speakerOf(event), textOf(event));
  const { fromSeq, toSeq, model } = await client.getSummary(SESSION);
  result(`the summary stands for events ${fromSeq} to ${toSeq}, written by the model “${model}”`);
  result(`a reader sees ${events.length} events; all ${lastSeq} are in the log still`);
  expectThat(events.length < lastSeq, 'the view did not get shorter');
}

/** The summary is written in the background; nobody waited for it when they appended. */
async function summarised(client) {
  const deadline = Date.now() + 5_000;
  for (;;) {
    const session = await client.getSession(SESSION);
    if (session.events[0].actions.compaction) return session;
    expectThat(Date.now() < deadline, 'no summary was written');
    await delay(20);
  }
}
