// A summary keeps a conversation short, the log keeps every event, and a rewind takes the summary back.
import 'reflect-metadata';
import { Module } from '@nestjs/common';
import { NestFactory } from '@nestjs/core';
import { SessionService, SessionsModule } from 'nestjs-agent-sessions';
import { ExtractiveSummaryModel, SummarizerModule, SummarizerSessionManager } from 'nestjs-agent-sessions/summarizer';

@Module({
  imports: [
    SessionsModule.forRoot({ provider: 'memory', isGlobal: true }),
    // More than 9 events start a summary. This model copies sentences and needs no key; a language model writes better.
    SummarizerModule.forRoot({ events: 9, keepRecentEvents: 4, model: new ExtractiveSummaryModel() }),
  ],
})
class AppModule {}

const app = await NestFactory.createApplicationContext(AppModule, { logger: false });
const sessions = app.get(SessionService);
const summaries = app.get(SummarizerSessionManager);

const key = { appName: 'shop', userId: 'ann', sessionId: 'order-7' };
const session = await sessions.createSession(key);
const turns = [
  ['I want to return the two chairs of order 4711.', 'Your order 4711 was delivered on 7 May. Are the chairs damaged?'],
  ['No, they are too high for my table.', 'You may return the chairs until 6 June, free of charge.'],
  ['And I would like the money back on my card.', 'We agreed on a refund of 180 EUR to your card.'],
  ['Good.', 'Is there anything else that I can do?'],
  ['What does the lower chair cost?', 'The chair Bergen is 85 EUR, and 4 cm lower.'],
] as const;
for (const [question, answer] of turns) {
  await append('user', question);
  await append('shop', answer);
}
// An app does not wait: the summary appears when it is ready.
await summaries.whenIdle();

console.log('what a reader sees, from now on:');
await show();

const summary = await summaries.getSessionSummary(key);
if (summary) {
  const { fromSeq, toSeq, originalEventCount, compressedEventCount, compressionRatio, model } = summary;
  console.log({ fromSeq, toSeq, originalEventCount, compressedEventCount, compressionRatio, model });
}

const log = await sessions.listEvents(key);
console.log('the log:', log.events.length, 'events, the last one is number', log.lastSeq);

await sessions.rewindSession({ ...key, toSeq: 4 });
console.log('back to event 4, which the summary covered:');
await show();

await app.close();

async function append(author: string, text: string): Promise<void> {
  const role = author === 'user' ? 'user' : 'model';
  await sessions.appendEvent({ session, event: { author, content: { role, parts: [{ text }] } } });
}

async function show(): Promise<void> {
  const shown = await sessions.getSession(key);
  for (const { seq, author, content } of shown?.events ?? []) {
    console.log(`  ${seq} ${author}: ${content?.parts?.[0]?.text?.replaceAll('\n', '\n      ')}`);
  }
}
