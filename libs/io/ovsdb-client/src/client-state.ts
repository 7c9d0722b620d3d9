export type ClientState =
  | { readonly phase: 'idle' }
  /** `cause` tells why the endpoint before was left. */
  | { readonly phase: 'connecting'; readonly endpoint: string; readonly cause: Error | undefined }
  /**
   * `missing` are the tables (`T`) and columns (`T.c`) that were selected but that the server does not have. `replaced` tells, once, how
   * the database is another one than that of the connection before.
   */
  | {
      readonly phase: 'connected'
      readonly endpoint: string
      readonly missing: readonly string[]
      readonly replaced: string | undefined
    }
  | { readonly phase: 'waiting'; readonly delayMs: number; readonly cause: Error }
  | { readonly phase: 'closed' }
