import { describeResuming } from './support/describe-resuming.js';
import { sdk1 } from './support/sdk-1.js';

describeResuming('@modelcontextprotocol/sdk', sdk1);
