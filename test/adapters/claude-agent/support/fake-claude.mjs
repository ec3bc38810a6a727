// Speaks to the SDK as its program does, and has no model: it says how many messages it was resumed with.
import { randomUUID } from 'node:crypto';
import { appendFileSync, readFileSync } from 'node:fs';
import { createInterface } from 'node:readline';

const resumed = process.argv.find((argument) => argument.startsWith('--resume='))?.slice('--resume='.length);
const sessionId = resumed ?? process.argv.at(process.argv.indexOf('--resume') + 1) ?? '';
const isResumed = process.argv.some((argument) => argument.startsWith('--resume'));
const id = isResumed ? sessionId : randomUUID();
const projectKey = process.cwd().replaceAll(/[^a-zA-Z0-9]/g, '-');
const filePath = `${process.env.CLAUDE_CONFIG_DIR}/projects/${projectKey}/${id}.jsonl`;
const before = isResumed ? readFileSync(filePath, 'utf8').trim().split('\n').map(JSON.parse) : [];

const say = (message) => process.stdout.write(`${JSON.stringify(message)}\n`);
const entry = (fields) => ({
  ...fields,
  uuid: randomUUID(),
  sessionId: id,
  timestamp: new Date().toISOString(),
  cwd: process.cwd(),
});

for await (const line of createInterface({ input: process.stdin })) {
  const { type, request_id, message } = JSON.parse(line);
  // For tests of what the SDK tells its program.
  if (process.env.TOLD) appendFileSync(process.env.TOLD, line);
  if (type === 'control_request') {
    const response = { commands: [], models: [], account: {} };
    say({ type: 'control_response', response: { subtype: 'success', request_id, response } });
  }
  if (type !== 'user') continue;
  const text = `I know ${before.length} entries`;
  const answer = { role: 'assistant', id: randomUUID(), model: 'fake', content: [{ type: 'text', text }] };
  say({ type: 'transcript_mirror', filePath, entries: [entry({ type: 'user', message })] });
  say({ type: 'transcript_mirror', filePath, entries: [entry({ type: 'assistant', message: answer })] });
  say({ type: 'assistant', message: answer, session_id: id, uuid: randomUUID(), parent_tool_use_id: null });
  say({ type: 'result', subtype: 'success', result: text, is_error: false, num_turns: 1, session_id: id, usage: {} });
}
