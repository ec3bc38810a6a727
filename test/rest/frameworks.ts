import { isFastLayer } from '../support/layer.js';

export type Framework = 'Express' | 'Fastify';
export const frameworks: readonly Framework[] = isFastLayer ? ['Express'] : ['Express', 'Fastify'];
