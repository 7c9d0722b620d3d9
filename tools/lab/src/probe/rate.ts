import { once } from 'node:events'
import { z } from 'zod'
import { programs } from '../paths.ts'
import { runProgram, startProgram } from '../program.ts'

const rate = z.object({ mbps: z.number(), bytes: z.number(), ms: z.number() })

/** How fast a stream went. */
export type Rate = z.infer<typeof rate>

/**
 * Sends over TCP from one network namespace to another for a time, as fast as that takes it, and tells what arrived.
 *
 * Both ends are processes of this machine, so on a small one it is less than what the network could carry.
 *
 * @throws {ProgramError} if there is no connection
 */
export async function measureRate(
  from: { readonly netns: string },
  to: { readonly netns: string; readonly address: string; readonly port: number },
  durationMs: number,
): Promise<Rate> {
  const server = startProgram('nsenter', [`--net=${to.netns}`, programs.probe, 'serve', String(to.port)])
  const ended = once(server, 'close')
  try {
    await Promise.race([once(server.stdout ?? server, 'data'), ended])
    const args = ['rate', to.address, String(to.port), String(durationMs)]
    return rate.parse(
      JSON.parse(await runProgram('nsenter', [`--net=${from.netns}`, programs.probe, ...args])),
    )
  } finally {
    server.kill('SIGKILL')
    // Until then it has the port.
    await ended
  }
}
