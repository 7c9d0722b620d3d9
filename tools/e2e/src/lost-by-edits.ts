import { outagesByFault, renderLoss, type PathLoss } from '@kube-ovn/lab'

/** Lost by itself: a machine that is busy loses one now and then, and an edit that costs one does so at each of its steps. */
const mostLonePackets = 2

/** Of paths that an edit is not to interrupt, those that lost something by it, as text: rows that are deleted and made anew lose packets that follow one another. */
export function lostByEdits(losses: readonly PathLoss[]): readonly string[] {
  return losses
    .filter((loss) => {
      const outages = outagesByFault(loss)
      return loss.sent < 40 || outages.length > mostLonePackets || outages.some(({ packets }) => packets > 1)
    })
    .map((loss) => renderLoss(loss))
}
