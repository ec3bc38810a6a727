import type { AbstractHttpAdapter } from '@nestjs/core';
import { ExpressAdapter } from '@nestjs/platform-express';
import { FastifyAdapter } from '@nestjs/platform-fastify';
import { frameworks } from '../../../rest/frameworks.js';

const adapters = { Express: () => new ExpressAdapter(), Fastify: () => new FastifyAdapter() };

/** The frameworks of the layer, with what makes an adapter of Nest for them. */
export const httpAdapters = frameworks.map((name): readonly [string, () => AbstractHttpAdapter] => [
  name,
  adapters[name],
]);
