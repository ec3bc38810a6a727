import layer from '../groups/layer.cjs';

/**
 * Whether this is `npm test`, which runs what is built on the stores on one of them, and on one framework. Whatever it
 * leaves out is in `npm run test:full`, and `npx jest` leaves nothing out.
 */
export const isFastLayer = layer.isFast;
