/** Where an API server is, whom to trust there, and who we are. */
export interface ClusterAccess {
  /** `https://host:port`, with a path if the server is behind a prefix. */
  readonly server: string
  /** Certificates to trust, PEM; without it those of the system. */
  readonly ca: string | undefined
  /** Name that the server's certificate must carry when it is not the host of `server`. */
  readonly tlsServerName: string | undefined
  /** False only where a kubeconfig says `insecure-skip-tls-verify`. */
  readonly isVerified: boolean
  /**
   * Yields the present credentials. It is asked before each request, so it answers from memory when it can.
   *
   * `renew` says that the server has just refused what was given before.
   */
  authenticate(renew: boolean): Promise<Authentication>
}

export interface Authentication {
  /** Value of the Authorization header. */
  readonly authorization?: string
  /** Client certificate and key, PEM. */
  readonly certificate?: string
  readonly privateKey?: string
}
