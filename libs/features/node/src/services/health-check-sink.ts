import { once } from 'node:events'
import { createServer, type Server, type ServerResponse } from 'node:http'
import { isDeepStrictEqual } from 'node:util'
import {
  FragmentConflictError,
  nothingToDo,
  type Owner,
  type Sink,
  type SinkKind,
  type SinkPlan,
  type Wanted,
} from '@kube-ovn/fragments'
import { HealthCheckNotServedError } from '../errors.ts'
import type { HealthCheck } from './health-checks.ts'

/** Ports at which balancers in front ask a node whether it has backends. */
export const healthChecks: SinkKind<HealthCheck> = {
  name: 'health-checks',
  targets: ({ port }) => [String(port)],
  validate: () => undefined,
}

interface OpenPort {
  readonly server: Server
  check: HealthCheck
}

/** Answers at `healthCheckNodePort` as kube-proxy does. */
export class HealthCheckSink implements Sink<HealthCheck>, Disposable {
  readonly kind = healthChecks
  readonly #listen: (server: Server, port: number) => void
  readonly #open = new Map<string, OpenPort>()

  constructor(listen: (server: Server, port: number) => void) {
    this.#listen = listen
  }

  [Symbol.dispose](): void {
    for (const target of this.#open.keys()) this.#close(target)
  }

  plan(target: string, { claims: [holder, ...rivals] }: Wanted<HealthCheck>): SinkPlan {
    const open = this.#open.get(target)
    if (holder === undefined) {
      if (open === undefined) return nothingToDo
      return { changes: [`no health checks at ${target}`], carryOut: () => this.#close(target) }
    }
    const refused = new Map<Owner, FragmentConflictError>()
    for (const { owner } of rivals) {
      const cure = 'give the Service another healthCheckNodePort'
      const details = { field: 'healthCheckNodePort', value: target, holder: holder.owner, cure }
      refused.set(owner, new FragmentConflictError(details))
    }
    const { fragment } = holder
    if (isDeepStrictEqual(open?.check, fragment)) return { ...nothingToDo, refused }
    return {
      changes: [`health checks at ${target}: ${fragment.localEndpoints} backends`],
      refused,
      carryOut: () => (open === undefined ? this.#serve(target, fragment) : void (open.check = fragment)),
    }
  }

  watch(): Disposable {
    return { [Symbol.dispose]: () => undefined }
  }

  async #serve(target: string, check: HealthCheck): Promise<void> {
    const server = createServer((_request, response) => {
      answer(response, open.check)
    })
    const open: OpenPort = { server, check }
    server.unref()
    try {
      this.#listen(server, check.port)
      if (!server.listening) await once(server, 'listening')
    } catch (cause) {
      const { namespace, name } = check.service
      throw new HealthCheckNotServedError({ service: `${namespace}/${name}`, port: check.port }, { cause })
    }
    this.#open.set(target, open)
  }

  #close(target: string): void {
    const open = this.#open.get(target)
    this.#open.delete(target)
    open?.server.close()
    open?.server.closeAllConnections()
  }
}

/** What kube-proxy answers: balancers go by the status, some by the number in the header. */
function answer(response: ServerResponse, { service, localEndpoints }: HealthCheck): void {
  response.writeHead(localEndpoints > 0 ? 200 : 503, {
    'content-type': 'application/json',
    'x-content-type-options': 'nosniff',
    'x-load-balancing-endpoint-weight': String(localEndpoints),
  })
  response.end(JSON.stringify({ service, localEndpoints, serviceProxyHealthy: true }))
}
