import 'reflect-metadata';
import { resolve } from 'node:path';
import { NestFactory } from '@nestjs/core';
import { AppModule } from './app.module.js';
import { type AppConfig, appConfigFrom } from './config/app.config.js';

async function start(): Promise<void> {
  const config = appConfigFrom(process.env);
  const app = await NestFactory.create(AppModule.register(config), { logger: ['warn', 'error'], abortOnError: false });
  app.enableShutdownHooks();
  await app.listen(config.port);
  console.log(greeting(await app.getUrl(), config));
}

function greeting(url: string, { databaseFile }: AppConfig): string {
  const address = url.replace(/\[::1?\]/, 'localhost');
  return [
    'Agent Sessions for NestJS',
    `  listening on  ${address}`,
    `  health        ${address}/health`,
    `  sessions in   SQLite, ${resolve(databaseFile)}`,
  ].join('\n');
}

function explanation(error: unknown): string {
  if (!(error instanceof Error)) return String(error);
  const isPortTaken = 'code' in error && error.code === 'EADDRINUSE';
  return isPortTaken ? `${error.message}. Set PORT to a free port.` : error.message;
}

start().catch((error: unknown) => {
  console.error(`The app could not start. ${explanation(error)}`);
  process.exitCode = 1;
});
