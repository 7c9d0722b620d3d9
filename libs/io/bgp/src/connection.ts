/** A connection to a peer, as a session sees it: bytes go both ways until it is closed. */
export interface Connection {
  /** Own end. */
  readonly localAddress: string
  /** Bytes that the kernel has not taken yet. */
  readonly queuedBytes: number
  write(bytes: Buffer): void
  /** Sends what is queued, and closes then. */
  end(): void
  /** Closes at once. */
  destroy(): void
  /** Says who is told from now on; whatever came before is told first. */
  listen(handlers: ConnectionHandlers): void
}

export interface ConnectionHandlers {
  data(bytes: Buffer): void
  /** Nothing is queued any more. */
  drained(): void
  /** Called once, also after the own `end` or `destroy`. */
  closed(error: Error | undefined): void
}

/** Where to, and how. */
export interface DialOptions {
  readonly address: string
  readonly port: number
  /** The own end; the kernel chooses one by its routes when it is absent. */
  readonly source?: string | undefined
  /** TTL, or hop limit, of what is sent: 1 keeps it on the link. */
  readonly ttl: number
  /** Signs every segment by MD5 (RFC 2385). */
  readonly password?: string | undefined
  /** Path of the network namespace; default is the one that this process is in. */
  readonly netns?: string | undefined
}

/**
 * Makes a connection.
 *
 * @throws BgpSocketError by rejecting
 */
export type Dial = (options: DialOptions, signal: AbortSignal) => Promise<Connection>
