import { createServer } from 'node:http'
import type { IncomingMessage, Server, ServerResponse } from 'node:http'
import type { Registry } from '@kube-ovn/telemetry'

export interface HealthServerOptions {
  /** One listener for each. */
  readonly addresses: readonly string[]
  readonly port: number
  /** Absent: `/metrics` is not served. */
  readonly registry?: Registry
  /** Reasons why the process is not ready; none means that it is. */
  readiness(): readonly string[]
  /** Reasons why the process should be restarted. */
  liveness(): readonly string[]
}

/** Serves `/healthz`, `/livez`, `/readyz` and `/metrics` until disposed. Resolves once all addresses are bound. */
export async function serveHealth(options: HealthServerOptions): Promise<AsyncDisposable> {
  const servers: Server[] = []
  const disposable: AsyncDisposable = {
    async [Symbol.asyncDispose]() {
      await Promise.all(servers.map(close))
    },
  }
  try {
    for (const address of options.addresses) {
      const server = createServer((request, response) => {
        answer(request, response, options).catch(() => response.destroy())
      })
      servers.push(server)
      await listen(server, options.port, address)
    }
  } catch (error) {
    await disposable[Symbol.asyncDispose]()
    throw error
  }
  return disposable
}

/** The addresses to bind: all of them, or only the pod's own. */
export function bindAddresses(isLocalOnly: boolean, podIps: readonly string[]): readonly string[] {
  return isLocalOnly && podIps.length > 0 ? podIps : ['0.0.0.0']
}

async function answer(request: IncomingMessage, response: ServerResponse, options: HealthServerOptions): Promise<void> {
  switch (new URL(request.url ?? '/', 'http://localhost').pathname) {
    case '/healthz':
    case '/livez':
      return verdict(response, options.liveness())
    case '/readyz':
      return verdict(response, options.readiness())
    case '/metrics':
      if (options.registry === undefined) break
      response.writeHead(200, { 'content-type': options.registry.contentType })
      response.end(await options.registry.metrics())
      return
  }
  response.writeHead(404).end()
}

function verdict(response: ServerResponse, reasons: readonly string[]): void {
  response.writeHead(reasons.length === 0 ? 200 : 503, { 'content-type': 'text/plain' })
  response.end(reasons.length === 0 ? 'ok' : `${reasons.join('\n')}\n`)
}

function listen(server: Server, port: number, address: string): Promise<void> {
  return new Promise((resolve, reject) => {
    server.once('error', reject)
    server.listen(port, address, () => {
      server.off('error', reject)
      resolve()
    })
  })
}

function close(server: Server): Promise<void> {
  return new Promise((resolve) => {
    server.close(() => resolve())
    server.closeAllConnections()
  })
}
