import { describeResuming } from '../mcp/support/describe-resuming.js';
import { sdk2 } from './mcp-sdk-2.js';

describeResuming('@modelcontextprotocol/server', sdk2);
