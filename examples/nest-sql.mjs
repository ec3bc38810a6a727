// A Nest app with its sessions in MySQL or MariaDB, and the rows that are there afterwards. MYSQL_URL says where the
// server is; its user may create databases.
import 'reflect-metadata';
import { randomUUID } from 'node:crypto';
import { Module } from '@nestjs/common';
import { NestFactory } from '@nestjs/core';
import { createConnection } from 'mysql2/promise';
import { SessionService, SessionsModule } from 'nestjs-agent-sessions';

const address = new URL(process.env.MYSQL_URL ?? 'mysql://root@127.0.0.1:3306');
const driverOptions = Object.fromEntries(address.searchParams);
const name = `agent_sessions_example_${randomUUID().replaceAll('-', '')}`;
const server = await createConnection(address.href);
await server.query(`CREATE DATABASE ${name}`);
address.search = '';
address.pathname = name;

class AppModule {}
const database = { url: address.href, driverOptions };
Module({ imports: [SessionsModule.forRoot({ provider: 'typeorm', database })] })(AppModule);

const app = await NestFactory.createApplicationContext(AppModule, { logger: false });
const sessions = app.get(SessionService);
const session = await sessions.createSession({
  appName: 'shop',
  userId: 'ann',
  sessionId: 'order-7',
  state: { step: 1, 'user:language': 'en', 'app:currency': 'EUR' },
});
await sessions.appendEvent({ session, event: { id: 'e-1', author: 'user', actions: { stateDelta: { step: 2 } } } });
await app.close();

// What a SQL client would show.
await server.query(`USE ${name}`);
for (const statement of [
  'SELECT app_name, user_id, session_id, events FROM agent_sessions',
  'SELECT seq, event_id FROM agent_session_events',
  'SELECT name, value FROM agent_session_state',
  'SELECT user_id, name, value FROM agent_shared_state JOIN agent_shared_scopes ON pk = scope_pk ORDER BY name',
]) {
  const [rows] = await server.query({ sql: statement, typeCast: (field) => field.string('utf8') });
  console.log(`${statement}\n ${rows.map((row) => Object.values(row).join(' | ')).join('\n ')}`);
}

await server.query(`DROP DATABASE ${name}`);
await server.end();
