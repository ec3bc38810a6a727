// A user's app, written as `nest new` writes one, with settings from `process.argv`.
import 'reflect-metadata';
import { Module } from '@nestjs/common';
import { NestFactory } from '@nestjs/core';
import { ConfigModule } from '@nestjs/config';
import { SessionsModule } from 'nestjs-agent-sessions';
import { sessionsConfig } from 'nestjs-agent-sessions/config';

const ways = {
  forRoot: (settings) => [SessionsModule.forRoot(settings)],
  'forRoot without options': () => [SessionsModule.forRoot()],
  'variables of the environment': () => [
    ConfigModule.forRoot({ load: [sessionsConfig], ignoreEnvFile: true }),
    SessionsModule.forRootAsync(sessionsConfig.asProvider()),
  ],
};

class AppModule {}
const { way, settings } = JSON.parse(process.argv[2]);
Module({ imports: ways[way](settings) })(AppModule);

const app = await NestFactory.create(AppModule);
await app.listen(0, '127.0.0.1');
await app.close();
