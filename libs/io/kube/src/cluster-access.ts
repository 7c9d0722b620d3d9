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
  /** Whose rights to use instead of one's own. */
  readonly impersonation?: Impersonation
}

export interface Impersonation {
  readonly user: string
  readonly groups: readonly string[]
}

/** Access with the rights of somebody else; the server asks whether we may do so. */
export function impersonating(access: ClusterAccess, impersonation: Impersonation): ClusterAccess {
  return {
    ...access,
    authenticate: async (renew) => ({ ...(await access.authenticate(renew)), impersonation }),
  }
}

/** The headers of a request that say who asks. */
export function authenticationHeaders({
  authorization,
  impersonation,
}: Authentication): Record<string, string | string[]> {
  return {
    ...(authorization === undefined ? {} : { authorization }),
    ...(impersonation === undefined
      ? {}
      : { 'impersonate-user': impersonation.user, 'impersonate-group': [...impersonation.groups] }),
  }
}

/** The parts of TLS options that tell whom to trust, and who asks. */
export function tlsOptions(
  { ca, tlsServerName, isVerified }: ClusterAccess,
  { certificate, privateKey }: Authentication,
): { rejectUnauthorized: boolean; ca?: string; servername?: string; cert?: string; key?: string } {
  return {
    rejectUnauthorized: isVerified,
    ...(ca === undefined ? {} : { ca }),
    ...(tlsServerName === undefined ? {} : { servername: tlsServerName }),
    ...(certificate === undefined ? {} : { cert: certificate }),
    ...(privateKey === undefined ? {} : { key: privateKey }),
  }
}
