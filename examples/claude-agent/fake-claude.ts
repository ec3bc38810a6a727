// Stands for the program of the Claude Agent SDK: speaks its protocol, and answers without a model.
import { randomUUID } from 'node:crypto';
import { existsSync, readFileSync } from 'node:fs';
import { createInterface } from 'node:readline';

const resumed = /--resume[= ](\S+)/.exec(process.argv.join(' '))?.[1];
const sessionId = resumed ?? randomUUID();
const project = process.cwd().replaceAll(/[^a-zA-Z0-9]/g, '-');
const filePath = `${process.env.CLAUDE_CONFIG_DIR}/projects/${project}/${sessionId}.jsonl`;
const before = resumed && existsSync(filePath) ? readFileSync(filePath, 'utf8').trim().split('\n').length : 0;

function say(message: object): void {
  process.stdout.write(`${JSON.stringify(message)}\n`);
}

function mirror(fields: object): void {
  const entry = { ...fields, uuid: randomUUID(), sessionId, timestamp: new Date().toISOString() };
  say({ type: 'transcript_mirror', filePath, entries: [entry] });
}

for await (const line of createInterface({ input: process.stdin })) {
  const { type, request_id, message } = JSON.parse(line) as { type: string; request_id?: string; message?: object };
  if (type === 'control_request') {
    const response = { commands: [], models: [], account: {} };
    say({ type: 'control_response', response: { subtype: 'success', request_id, response } });
  }
  if (type !== 'user') continue;
  const text = `I remember ${before} messages.`;
  const usage = { input_tokens: 10, output_tokens: 5 };
  mirror({ type: 'user', message });
  mirror({
    type: 'assistant',
    message: { role: 'assistant', id: randomUUID(), model: 'fake', content: [{ type: 'text', text }], usage },
  });
  say({
    type: 'result',
    subtype: 'success',
    result: text,
    is_error: false,
    num_turns: 1,
    session_id: sessionId,
    usage,
  });
}
