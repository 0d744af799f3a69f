import { isRetryable } from "@credit-data/promise"
import { creditData } from "../../../lib/creditData"

// a 401 or 403 of the API is not for this service's own callers
const statusFor = (status: number) => status === 404 ? 404 : status === 429 || status >= 500 ? 503 : 500

export const GET = async (_: Request, { params }: { readonly params: Promise<{ readonly id: string }> }) => {
  try {
    const { id } = await params
    const { call } = await creditData()
    const signal = AbortSignal.timeout(15_000)
    const consumer = await call("dataAccess", "GET", "/data-access/consumers/{id}", { id }, { signal })
    if (consumer.ok) return Response.json(await consumer.json())
    return new Response(null, { status: statusFor(consumer.status) })
  } catch (error) {
    return new Response(null, { status: isRetryable(error) ? 503 : 500 })
  }
}
