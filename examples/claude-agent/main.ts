// An agent of the Claude Agent SDK whose transcripts are sessions: another instance resumes them, and everything else reads them.
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { foldSessionSummary, listSessions, query } from '@anthropic-ai/claude-agent-sdk';
import 'reflect-metadata';
import { Injectable, Module } from '@nestjs/common';
import { NestFactory } from '@nestjs/core';
import { SessionService, SessionsModule } from 'nestjs-agent-sessions';
import { toMessages } from 'nestjs-agent-sessions/agents';
import { ClaudeSessionStore } from 'nestjs-agent-sessions/claude-agent';

const dir = mkdtempSync(join(tmpdir(), 'claude-'));
const fakeClaude = fileURLToPath(new URL('fake-claude.js', import.meta.url)); // your app leaves pathToClaudeCodeExecutable out

@Injectable()
class Support {
  constructor(private readonly sessions: SessionService) {}

  /** The transcripts of a user. */
  storeOf(userId: string): ClaudeSessionStore {
    return new ClaudeSessionStore({ sessions: this.sessions, appName: 'shop', userId, foldSessionSummary });
  }

  async reply(userId: string, prompt: string, resume?: string): Promise<{ text: string; sessionId: string }> {
    const options = {
      sessionStore: this.storeOf(userId),
      pathToClaudeCodeExecutable: fakeClaude,
      cwd: dir,
      env: { ...process.env, CLAUDE_CONFIG_DIR: dir },
      ...(resume !== undefined && { resume }),
    };
    for await (const message of query({ prompt, options })) {
      if (message.type === 'result' && message.subtype === 'success') {
        return { text: message.result, sessionId: message.session_id };
      }
    }
    throw new Error('Claude gave no answer.');
  }
}

@Module({ imports: [SessionsModule.forRoot({ provider: 'memory' })], providers: [Support] })
class AppModule {}

const app = await NestFactory.createApplicationContext(AppModule, { logger: false });
const support = app.get(Support);
const { text, sessionId } = await support.reply('ann', 'Where is my order?');
console.log(text);
console.log((await support.reply('ann', 'And now?', sessionId)).text);

const sessions = app.get(SessionService);
const session = await sessions.getSession({ appName: 'shop', userId: 'ann', sessionId });
for (const { role, content } of toMessages(session?.events ?? [], { format: 'openai' })) console.log(role, content);
const { total } = await sessions.getUsage({ appName: 'shop', userId: 'ann' });
console.log('tokens:', total.totalTokens);

for (const userId of ['ann', 'bob']) {
  const listed = await listSessions({ dir, sessionStore: support.storeOf(userId) });
  console.log(
    userId,
    'has',
    listed.map(({ summary }) => summary),
  );
}
await app.close();
rmSync(dir, { recursive: true });
