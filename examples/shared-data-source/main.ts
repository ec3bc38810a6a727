// An app lends its own DataSource to the sessions: one connection, one list of migrations.
import 'reflect-metadata';
import { Module } from '@nestjs/common';
import { NestFactory } from '@nestjs/core';
import { TypeOrmModule, getDataSourceToken } from '@nestjs/typeorm';
import Libsql from 'libsql';
import { SessionService, SessionsModule } from 'nestjs-agent-sessions';
import { SESSION_MIGRATIONS, sessionEntities } from 'nestjs-agent-sessions/typeorm';
import type { DataSource } from 'typeorm';

const database = TypeOrmModule.forRootAsync({
  useFactory: () => ({
    type: 'better-sqlite3', // or mysql, with charset: 'utf8mb4', or postgres, and then a url
    driver: Libsql,
    database: ':memory:',
    entities: [...sessionEntities('better-sqlite3')], // and yours
    migrations: SESSION_MIGRATIONS, // or [...SESSION_MIGRATIONS, ...yours]
    migrationsRun: true,
  }),
});

const sessionsModule = SessionsModule.forRootAsync({
  inject: [getDataSourceToken()],
  useFactory: (dataSource: DataSource) => ({ provider: 'typeorm', database: { dataSource } }),
});

@Module({ imports: [database, sessionsModule] })
class AppModule {}

const app = await NestFactory.createApplicationContext(AppModule, { logger: false });
const sessions = app.get(SessionService);
const session = await sessions.createSession({ appName: 'shop', userId: 'ann', sessionId: 'order-7' });
await sessions.appendEvent({ session, event: { id: 'e-1', author: 'user' } });

// The app's own connection sees the same rows.
console.log(await app.get<DataSource>(getDataSourceToken()).query('SELECT seq, event_id FROM agent_session_events'));
await app.close();
