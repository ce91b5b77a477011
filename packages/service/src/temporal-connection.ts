import { Connection } from '@temporalio/client';

/**
 * A connection to Temporal for requests: it connects with the first call, and again, within about a second, after
 * Temporal was away. The SDK's own retries are off: with them nobody could tell whether an earlier attempt had
 * reached the server.
 * @param address `host:port`
 */
export function lazyConnection(address: string): Connection {
  return Connection.lazy({
    address,
    interceptors: [],
    channelArgs: {
      'grpc.initial_reconnect_backoff_ms': 100,
      'grpc.min_reconnect_backoff_ms': 100,
      'grpc.max_reconnect_backoff_ms': 1_000,
    },
  });
}
