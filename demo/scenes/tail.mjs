import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { fileURLToPath } from 'node:url';
import { SESSION, fromAgent, fromAnn, tell } from '../conversation.mjs';
import { heading, result, step } from '../screen.mjs';

const program = fileURLToPath(new URL('../tail.mjs', import.meta.url));

/** Another process sees what is said as it is said. */
export async function showTail(client, url) {
  heading('Somebody else follows, live');
  const { version } = await client.getSession(SESSION);
  const where = [url, SESSION.appName, SESSION.userId, SESSION.sessionId, String(version)];
  const tail = spawn(process.execPath, [program, ...where], { stdio: ['ignore', 'pipe', 'inherit'] });
  step(`Process ${tail.pid} watches the session from number ${version} on, while this one, ${process.pid}, writes`);
  let printed = '';
  tail.stdout.on('data', (chunk) => (printed += chunk));
  try {
    await tell(client, fromAgent('Yes: the courier in your town has it on Thursday.'));
    await tell(client, fromAnn('Lovely. Could he leave it with my neighbour, Mr Okafor?'));
    while (printed.split('\n').length < 3 && tail.exitCode === null) await once(tail.stdout, 'data');
  } finally {
    tail.kill();
  }
  for (const seen of printed.trim().split('\n')) result(`seen by ${tail.pid}:  ${seen}`);
}
