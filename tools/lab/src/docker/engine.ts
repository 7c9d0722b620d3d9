import { Agent, request } from 'node:http'
import { DockerError, LabMachineError } from '../errors.ts'

/**
 * Where the engine listens. It must be an engine of this machine: the lab enters the namespaces of its containers.
 */
const socketPath = (process.env['DOCKER_HOST'] ?? 'unix:///var/run/docker.sock').replace(/^unix:\/\//, '')

/** An API version that Debian 12's engine has. */
const apiVersion = 'v1.41'

const agent = new Agent({ keepAlive: true, maxSockets: 8 })

/**
 * Calls the Docker Engine API and returns the parsed answer.
 *
 * The command line would start a process of 50 ms for each call, which is most of what bringing up a cluster costs.
 *
 * @throws {DockerError} if the engine answers with a status of 400 or above
 */
export function callEngine<T>(method: 'GET' | 'POST' | 'DELETE', path: string, body?: object): Promise<T> {
  const isCreation = method === 'POST' && path.includes('/create')
  if (isCreation && isClosed) {
    const reason = 'this process has been told to end'
    return Promise.reject(new DockerError('nothing more is created', { method, path, status: 0, reason }))
  }
  const answer = sendRequest<T>(method, path, body)
  if (isCreation) {
    const settled = answer.then(ignore, ignore).finally(() => creations.delete(settled))
    creations.add(settled)
  }
  return answer
}

let isClosed = false
const creations = new Set<Promise<void>>()

function ignore(): void {
  // Whoever created hears of it.
}

/** From now on this process creates nothing; when this resolves, what it was creating is there to be found, or never will be. */
export async function closeForCreation(): Promise<void> {
  isClosed = true
  await Promise.all(creations)
}

function sendRequest<T>(method: string, path: string, body?: object): Promise<T> {
  return new Promise((resolve, reject) => {
    const headers = body === undefined ? {} : { 'content-type': 'application/json' }
    const query = request(
      { socketPath, agent, method, path: `/${apiVersion}${path}`, headers },
      (response) => {
        const chunks: Buffer[] = []
        response.on('data', (chunk: Buffer) => chunks.push(chunk))
        response.once('error', reject)
        response.once('end', () => {
          const text = Buffer.concat(chunks).toString()
          const status = response.statusCode ?? 0
          if (status >= 400) {
            const reason = text.trim()
            reject(new DockerError('the Docker engine refused a request', { method, path, status, reason }))
          } else resolve((text === '' ? undefined : JSON.parse(text)) as T)
        })
      },
    )
    query.once('error', (cause: NodeJS.ErrnoException) => {
      const isRefused = cause.code === 'ENOENT' || cause.code === 'ECONNREFUSED' || cause.code === 'EACCES'
      reject(isRefused ? unreachable(cause) : cause)
    })
    query.end(body === undefined ? undefined : JSON.stringify(body))
  })
}

function unreachable(cause: NodeJS.ErrnoException): LabMachineError {
  const what = `${socketPath}: ${cause.code}`
  const cure =
    cause.code === 'EACCES'
      ? 'run it as root, e.g. with sudo'
      : 'install and start Docker (apt-get install docker.io; systemctl start docker), or set DOCKER_HOST to the socket of an engine of this machine'
  return new LabMachineError('the Docker engine does not answer', { what, cure }, { cause })
}

/** Turns an answer "there is no such thing" into `undefined`. */
export async function unlessMissing<T>(call: Promise<T>): Promise<T | undefined> {
  try {
    return await call
  } catch (error) {
    if (error instanceof DockerError && error.details.status === 404) return undefined
    throw error
  }
}

/** A query parameter that selects by label. */
export function labelFilter(...labels: readonly string[]): string {
  return `filters=${encodeURIComponent(JSON.stringify({ label: labels }))}`
}
