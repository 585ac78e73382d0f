from vase._vase import Needs


class Scorer:
    """A score of your own: derive from it, and give it to Policy.with_scorer().

        class SmallKeys(vase.Scorer):
            name = "small-keys"

            def score(self, head):
                keys = head.keys[: head.candidates]
                return -np.linalg.norm(keys, axis=1)

    name: what texts and messages call it.
    needs: what the engine must keep for it, a Needs.
    """

    name = "python"
    needs = Needs()

    def score(self, head):
        """One number per candidate of `head`, an array [head.candidates]; larger means more worth keeping.

        Called for every KV head at every eviction, from the engine's threads, one at a time. Must depend on `head`
        alone. What it raises comes out of the step; that eviction then keeps the newest tokens.
        """
        raise NotImplementedError
