/** What a node must not lose: the ways to the API server and to the Southbound. */
export interface Lifelines {
  /** Names of those that answer now, on a connection made for it. */
  answering(): Promise<readonly string[]>
  /**
   * Resolves when each of these has answered on a connection made for it.
   *
   * @throws the reason of the signal when that comes first
   */
  answered(names: readonly string[], signal: AbortSignal): Promise<void>
}
