import { describe, expect, it } from 'vitest'
import { describeLoss, outagesByFault, renderLoss } from './drill.ts'

describe('describeLoss', () => {
  it('sees no outage where nothing was lost', () => {
    expect(describeLoss('a', { sent: 40, lost: [] })).toEqual({
      name: 'a',
      sent: 40,
      lost: 0,
      outages: [],
      waitedMs: 0,
      intervalMs: 50,
    })
  })

  it('tells outages apart, and one that has not ended', () => {
    const loss = describeLoss('a', { sent: 100, lost: [3, 4, 5, 9, 99, 100] })
    expect(loss.outages).toEqual([
      { fromMs: 100, toMs: 250, packets: 3 },
      { fromMs: 400, toMs: 450, packets: 1 },
      { fromMs: 4900, packets: 2 },
    ])
    expect(describeLoss('a', { sent: 9, lost: [4] }, 0, 20).outages).toEqual([
      { fromMs: 60, toMs: 80, packets: 1 },
    ])
    expect(renderLoss(loss)).toBe('a: 6 of 100 lost, 0.10 s to 0.25 s, 0.40 s to 0.45 s, 4.90 s to the end')
  })
})

describe('outagesByFault', () => {
  const lost = Array.from({ length: 15 }, (_, index) => index + 20)

  it('excuses what data paths lost that waited for a processor for as long', () => {
    const loss = describeLoss('a', { sent: 100, lost }, 760)
    expect(outagesByFault(loss)).toEqual([])
    expect(renderLoss(loss)).toContain('its data paths waited 0.76 s for a processor')
  })

  it('excuses no more than that, and nothing on a machine that is not busy', () => {
    expect(outagesByFault(describeLoss('a', { sent: 100, lost }, 740))).toHaveLength(1)
    expect(outagesByFault(describeLoss('a', { sent: 100, lost: [20] }, 450))).toHaveLength(1)
    expect(outagesByFault(describeLoss('a', { sent: 100, lost: [20] }))).toHaveLength(1)
  })
})
