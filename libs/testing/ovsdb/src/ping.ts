import { request } from 'node:http'
import { EngineUnavailableError } from './errors.ts'

/** Resolves when the engine behind a unix socket (`unix:///PATH`) says that it is there. Throws {@link EngineUnavailableError}. */
export function ping(address: string, timeoutMs: number): Promise<void> {
  return new Promise((resolve, reject) => {
    if (!address.startsWith('unix:///')) {
      reject(new EngineUnavailableError(address, 'not a socket of this machine'))
      return
    }
    const signal = AbortSignal.timeout(timeoutMs)
    const query = request(
      { socketPath: address.slice('unix://'.length), path: '/_ping', signal },
      (answer) => {
        answer.resume()
        if (answer.statusCode === 200) resolve()
        else reject(new EngineUnavailableError(address, `answers with status ${answer.statusCode}`))
      },
    )
    query.once('error', (error: NodeJS.ErrnoException) => {
      const reason = signal.aborted ? `no answer within ${timeoutMs / 1000} s` : (error.code ?? error.message)
      reject(new EngineUnavailableError(address, reason, error))
    })
    query.end()
  })
}
