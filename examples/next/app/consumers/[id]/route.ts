import { isRetryable } from "@credit-data/promise"
import { creditData } from "../../../lib/creditData"

export const GET = async (_: Request, { params }: { readonly params: Promise<{ readonly id: string }> }) => {
  try {
    const { id } = await params
    const { call } = await creditData()
    const signal = AbortSignal.timeout(15_000)
    return await call("dataAccess", "GET", "/data-access/consumers/{id}", { id }, { signal })
  } catch (error) {
    return new Response(null, { status: isRetryable(error) ? 503 : 500 })
  }
}
