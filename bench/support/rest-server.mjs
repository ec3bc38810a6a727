// A server in its own process: our routes, and bare ones that only respond with the same amount of data. Sends its port.
import 'reflect-metadata';
import { Body, Controller, Get, HttpCode, Post } from '@nestjs/common';
import { NestFactory } from '@nestjs/core';
import { FastifyAdapter } from '@nestjs/platform-fastify';
import { SessionsModule } from '../../dist/index.js';
import { FASTIFY_OPTIONS, OpenAccess, SESSIONS_BODY_LIMIT, SessionsRestModule } from '../../dist/rest.js';

const [, , framework] = process.argv;

class BareController {
  /** What was last asked to be answered to a read. */
  answer = {};

  write(body) {
    return body;
  }

  prepare(body) {
    this.answer = body;
  }

  read() {
    return this.answer;
  }
}
Controller('bare/:appName/:userId/:sessionId')(BareController);
decorate('write', Post());
decorate('write', HttpCode(201));
Body()(BareController.prototype, 'write', 0);
decorate('prepare', Post('answer'));
Body()(BareController.prototype, 'prepare', 0);
decorate('read', Get());

function decorate(name, decorator) {
  decorator(BareController.prototype, name, Object.getOwnPropertyDescriptor(BareController.prototype, name));
}

const root = {
  ...SessionsRestModule.forRoot({
    access: OpenAccess,
    imports: [SessionsModule.forRoot({ provider: 'memory', isGlobal: true })],
  }),
  controllers: [BareController],
};

const options = { logger: false, forceCloseConnections: true };
const app =
  framework === 'Fastify'
    ? await NestFactory.create(root, new FastifyAdapter(FASTIFY_OPTIONS), options)
    : await NestFactory.create(root, options);
if (framework === 'Express') app.useBodyParser('json', { limit: SESSIONS_BODY_LIMIT });
await app.listen(0, '127.0.0.1');
process.send({ port: Number(new URL(await app.getUrl()).port) });
process.on('disconnect', () => void app.close());
