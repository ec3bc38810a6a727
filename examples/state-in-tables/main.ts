// The rows in which a SQLite file keeps the state of a session, of a user and of an app.
import 'reflect-metadata';
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { Module } from '@nestjs/common';
import { NestFactory } from '@nestjs/core';
import Database from 'libsql';
import { SessionService, SessionsModule } from 'nestjs-agent-sessions';

const folder = await mkdtemp(join(tmpdir(), 'agent-sessions-example-'));
const database = join(folder, 'sessions.db');

@Module({ imports: [SessionsModule.forRoot({ provider: 'typeorm', database: { database } })] })
class AppModule {}

const app = await NestFactory.createApplicationContext(AppModule, { logger: false });
const sessions = app.get(SessionService);
const ann = { appName: 'shop', userId: 'ann' };

const first = await sessions.createSession({ ...ann, sessionId: 'first', state: { step: 1, 'app:currency': 'EUR' } });
first.state['user:theme'] = 'dark';
first.state['temp:draft'] = 'not kept';
await sessions.updateSession(first);
const second = await sessions.createSession({ ...ann, sessionId: 'second' });
const other = await sessions.createSession({ appName: 'shop', userId: 'bob', sessionId: 'other' });
console.log('ann, second session', second.state);
console.log('bob, other session ', other.state);
await app.close();

const file = new Database(database);
const show = (title: string, statement: string) => console.log(title, file.prepare(statement).raw().all());
show('of sessions ', "SELECT session_id, state FROM agent_sessions WHERE state <> ''");
show(
  'shared      ',
  "SELECT iif(user_id = '', 'the app', user_id), name, value FROM agent_shared_state JOIN agent_shared_scopes ON pk = scope_pk ORDER BY name",
);
file.close();
await rm(folder, { recursive: true });
