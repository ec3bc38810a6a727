import { SessionsClient } from 'nestjs-agent-sessions/client';
import { SESSION, fromAnn, tell } from '../conversation.mjs';
import { expectThat, heading, result, step, textOf } from '../screen.mjs';

/** The app is killed right after it acknowledged an append, and started again; answers what goes on. */
export async function showRestart(app, startAgain) {
  heading('kill -9, and nothing is lost');
  const client = new SessionsClient({ url: app.url });
  const last = await tell(client, fromAnn('One more thing: it is a present, so please no invoice!'));
  const before = await client.getSession(SESSION);
  step(`kill -9 ${app.pid}, and a start on the same file`);
  await app.end('SIGKILL');
  const next = await startAgain();
  const after = await new SessionsClient({ url: next.url }).getSession(SESSION);
  result(`process ${next.pid} has version ${after.version}, and as the last word: “${textOf(after.events.at(-1))}”`);
  expectThat(after.events.at(-1).id === last.id, 'the last event is gone');
  expectThat(JSON.stringify(after) === JSON.stringify(before), 'the session is another one');
  result('the session is what it was, to the last byte');
  return next;
}
